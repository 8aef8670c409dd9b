// From the file, the environment and the flags to one checked configuration.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { checkConfig, type SourceOf } from "./check-config.ts";
import { ConfigError } from "./config-error.ts";
import { type ConfigFile, type Fault, findConfigFile, readConfigFile, reasonOf } from "./config-file.ts";
import { type ConfigPath, keyOf, valueAt } from "./config-path.ts";
import { type Environment, type Flags, type Override, overridesOf } from "./overrides.ts";
import type { ServerConfig } from "./schema.ts";

export interface LoadOptions {
  /** The config file. Default: the one in `cwd` that has a known name, or none. */
  file?: string | undefined;
  /** Default: that of the process. */
  cwd?: string;
  /** Default: that of the process. */
  env?: Environment;
  /** Default: none. */
  flags?: Flags;
}

/**
 * The settings of the file, overridden by those of the environment, then by the flags; defaults for all others.
 * Throws a `ConfigError` that names every problem with its key and source.
 */
export async function loadConfig(options: LoadOptions = {}): Promise<ServerConfig> {
  const { cwd = process.cwd(), env = process.env, flags = {} } = options;
  const path = await findConfigFile(cwd, options.file);
  const file = path === undefined ? noFile(cwd) : await readConfigFile(path, env);
  const overrides = overridesOf({ env, flags, cwd });
  const sourceOf = sourcesOf(file, overrides);
  const merged = overrides.reduce((values, { path, value }) => withValue(values, path, value), file.values);
  const { values, faults } = await readSecretFiles(merged, file.folder);
  const { config, problems } = checkConfig(values, sourceOf);

  // What was overridden cannot be wrong any more.
  const early = [...file.faults.filter(({ path }) => sourceOf(path) === file.sourceOf(path)), ...faults];
  const earlyKeys = new Set(early.map(({ path }) => keyOf(path)));
  const all = [
    ...early.map(({ path, message }) => ({ key: keyOf(path), source: sourceOf(path), message })),
    ...problems.filter(({ key }) => !earlyKeys.has(key)), // one value, one problem
  ];
  if (config === undefined || all.length > 0) throw new ConfigError(all);
  return config;
}

function noFile(cwd: string): ConfigFile {
  return { values: {}, sourceOf: () => "no file, variable or flag sets it", folder: cwd, faults: [] };
}

/** Where a value comes from: the override of the deepest part of its path, else the file. */
function sourcesOf(file: ConfigFile, overrides: readonly Override[]): SourceOf {
  const sources = new Map(overrides.map(({ path, source }) => [keyOf(path), source]));
  return (path) => {
    for (let length = path.length; length > 0; length -= 1) {
      const source = sources.get(keyOf(path.slice(0, length)));
      if (source !== undefined) return source;
    }
    return file.sourceOf(path);
  };
}

/** A copy with another value at one path. */
function withValue(values: unknown, [part, ...rest]: ConfigPath, value: unknown): unknown {
  if (part === undefined) return value;
  const old = values ?? (typeof part === "number" ? [] : {});
  // Any other value in place of a group stays, and is reported.
  if (typeof old !== "object") return old;
  const child = withValue((old as Record<string | number, unknown>)[part], rest, value);
  return Array.isArray(old) ? old.with(Number(part), child) : { ...old, [part]: child };
}

/**
 * Reads each file that an `apiKeyFile`, `secretFile` or `publicKeyFile` names, relative to `folder`, into the key
 * without `File`. The values are not checked yet, so any value may be anywhere.
 */
async function readSecretFiles(
  values: unknown,
  folder: string,
): Promise<{ values: unknown; faults: Fault[] }> {
  const faults: Fault[] = [];
  let filled = values;
  for (const path of secretPaths(values)) {
    const filePath = [...path.slice(0, -1), `${path.at(-1)}File`];
    const file = valueAt(values, filePath);
    if (typeof file !== "string" || file.trim() === "") continue;
    const fail = (message: string) => faults.push({ path: filePath, message });
    if (valueAt(values, path) !== undefined) {
      fail(`expected only one of ${path.at(-1)} and ${filePath.at(-1)}.`);
      continue;
    }
    try {
      const secret = (await readFile(resolve(folder, file), "utf8")).trim();
      if (secret === "") fail(`the file ${file} is empty.`);
      else filled = withValue(filled, path, secret);
    } catch (error) {
      fail(`the file ${file} cannot be read: ${reasonOf(error)}.`);
    }
  }
  return { values: filled, faults };
}

/** The settings whose values may be in files. */
function secretPaths(values: unknown): ConfigPath[] {
  const endpoints: unknown = valueAt(values, ["endpoints"]);
  const models: unknown = valueAt(values, ["models"]);
  return [
    ...(Array.isArray(endpoints) ? endpoints.map((_, index) => ["endpoints", index, "apiKey"]) : []),
    ...Object.keys(Object(models)).map((name) => ["models", name, "apiKey"]),
    ["auth", "jwt", "secret"],
    ["auth", "jwt", "publicKey"],
  ];
}
