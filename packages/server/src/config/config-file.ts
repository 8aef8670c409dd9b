// Which file holds the configuration, and what is in it.

import { access, readFile } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import { readCode } from "./code-file.ts";
import { ConfigError } from "./config-error.ts";
import type { Fault, Layered } from "./layers.ts";
import type { Environment } from "./overrides.ts";
import { substitute } from "./substitute.ts";

/** The names that are looked for. */
const configFileNames = [
  "rondo.config.ts",
  "rondo.config.mts",
  "rondo.config.js",
  "rondo.config.mjs",
  "rondo.yaml",
  "rondo.yml",
] as const;

const codeExtensions = [".ts", ".mts", ".js", ".mjs"];
const textExtensions = [".yaml", ".yml", ".json"]; // JSON is YAML too

export interface ConfigFile extends Layered {
  /** What relative paths in the file are seen from. */
  readonly folder: string;
  /** What is wrong already. */
  readonly faults: readonly Fault[];
}

/** Where the config file is: `file` if given, else the one in `cwd`, if there is one. */
export async function findConfigFile(cwd: string, file: string | undefined): Promise<string | undefined> {
  if (file !== undefined) return resolve(cwd, file);
  const paths = configFileNames.map((name) => resolve(cwd, name));
  const isThere = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  const found = paths.filter((_, index) => isThere[index]);
  if (found.length > 1) {
    const names = found.map((path) => basename(path)).join(" and ");
    const message = `there are ${names}, and only one can count. Remove the others, or choose with --config.`;
    throw new ConfigError([{ key: "", source: cwd, message }]);
  }
  return found[0];
}

/** Reads the file, with the variables that it mentions. Throws a `ConfigError` if it cannot be read at all. */
export async function readConfigFile(path: string, env: Environment): Promise<ConfigFile> {
  const folder = dirname(path);
  const name = basename(path);
  const extension = extname(path);
  const fail = (message: string, options?: ErrorOptions) =>
    new ConfigError([{ key: "", source: path, message }], options);
  if (![...codeExtensions, ...textExtensions].includes(extension))
    throw fail(`expected a file that ends in ${[...codeExtensions, ...textExtensions].join(", ")}.`);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw fail(`cannot be read: ${reasonOf(error)}.`, { cause: error });
  });
  if (codeExtensions.includes(extension)) return { ...(await readCode(path)), folder, faults: [] };
  // The parser is large, and most commands need none.
  const { readYaml } = await import("./yaml-file.ts");
  const { values, sourceOf } = readYaml(text, name);
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
