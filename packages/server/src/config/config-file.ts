// Finds the config file and reads it: a program's default export, or YAML with variables of the environment.

import { access, readFile } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { SourceOf } from "./check-config.ts";
import { ConfigError } from "./config-error.ts";
import { type ConfigPath, valueFromText } from "./config-path.ts";
import { describeLoadError } from "./load-error.ts";
import type { Environment } from "./overrides.ts";

const codeExtensions = [".ts", ".mts", ".js", ".mjs"];
const textExtensions = [".yaml", ".yml", ".json"]; // JSON is YAML too
const extensions = [...codeExtensions, ...textExtensions];

const configFileNames = [...codeExtensions.map((it) => `rondo.config${it}`), "rondo.yaml", "rondo.yml"];

/** What is wrong with one value. */
export interface Fault {
  readonly path: ConfigPath;
  readonly message: string;
}

export interface ConfigFile {
  readonly values: unknown;
  readonly sourceOf: SourceOf;
  /** What relative paths in the file are relative to. */
  readonly folder: string;
  /** Faults found while reading. */
  readonly faults: readonly Fault[];
}

/** The path of the config file: `file` if given, else the one in `cwd`, if there is one. */
export async function findConfigFile(cwd: string, file: string | undefined): Promise<string | undefined> {
  if (file !== undefined) return resolve(cwd, file);
  const found: string[] = [];
  for (const name of configFileNames) {
    const exists = access(resolve(cwd, name)).then(
      () => true,
      () => false,
    );
    if (await exists) found.push(name);
  }
  if (found.length > 1) {
    const message = `there are ${found.join(" and ")}, and only one can count. Remove the others, or choose with --config.`;
    throw new ConfigError([{ key: "", source: cwd, message }]);
  }
  return found[0] && resolve(cwd, found[0]);
}

/** Reads the file, with the variables that it mentions. Throws a `ConfigError` if it cannot be read at all. */
export async function readConfigFile(path: string, env: Environment): Promise<ConfigFile> {
  const folder = dirname(path);
  const extension = extname(path);
  const fail = (message: string, options?: ErrorOptions) =>
    new ConfigError([{ key: "", source: path, message }], options);
  if (!extensions.includes(extension)) throw fail(`expected a file that ends in ${extensions.join(", ")}.`);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw fail(`cannot be read: ${reasonOf(error)}.`, { cause: error });
  });
  if (codeExtensions.includes(extension)) return { ...(await readCode(path)), folder, faults: [] };
  // Loaded on demand: the parser is large, and most commands do not need it.
  const { readYaml } = await import("./yaml-file.ts");
  const { values, sourceOf } = readYaml(text, basename(path));
  return { ...substitute(values, env), sourceOf, folder };
}

/** Why a file cannot be read, in words. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "this user may not read it";
  if (code === "EISDIR") return "it is a folder";
  return message;
}

/** The default export of a module. Node strips the types of TypeScript by itself. */
async function readCode(file: string): Promise<Pick<ConfigFile, "values" | "sourceOf">> {
  const source = basename(file);
  const fail = (message: string, options?: ErrorOptions): never => {
    throw new ConfigError([{ key: "", source, message }], options);
  };
  const module = await import(pathToFileURL(file).href).catch((error: unknown) =>
    fail(`could not be loaded: ${describeLoadError(error, file)}`, { cause: error }),
  );
  const { default: values } = module as { default?: unknown };
  if (values === undefined) fail("has no default export. Write `export default defineConfig({ … })`.");
  return { values, sourceOf: () => source };
}

/** Replaces each `${NAME}` by that variable of the environment, at any depth. `$${` is a plain `${`. */
function substitute(values: unknown, env: Environment): Pick<ConfigFile, "values" | "faults"> {
  const faults: Fault[] = [];

  const fill = (text: string, path: ConfigPath): unknown => {
    if (!text.includes("${")) return text;
    const filled = text.replace(/\$(\$\{)|\$\{([^}]*)\}?/g, (all, escaped?: string, name = "") => {
      if (escaped !== undefined) return escaped;
      const isName = /^[A-Za-z_]\w*$/.test(name) && all.endsWith("}");
      const value = isName ? env[name] : undefined;
      if (value !== undefined) return value;
      const message = isName
        ? `the environment variable ${name}, which it mentions, is not set.`
        : `expected the name of an environment variable, as in \${NAME}, got ${JSON.stringify(all)}; write $\${ for a plain \${.`;
      faults.push({ path, message });
      return "";
    });
    // A lone variable may be a number or a list, as in the environment.
    return /^\$\{\w+\}$/.test(text) ? valueFromText(filled, path) : filled;
  };

  const visit = (value: unknown, path: ConfigPath): unknown => {
    if (typeof value === "string") return fill(value, path);
    if (Array.isArray(value)) return value.map((element, index) => visit(element, [...path, index]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [name, visit(child, [...path, name])]),
    );
  };

  return { values: visit(values, []), faults };
}
