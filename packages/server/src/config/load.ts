// From the file, the environment and the flags to one checked configuration.

import { checkConfig } from "./check-config.ts";
import { ConfigError } from "./config-error.ts";
import { type ConfigFile, findConfigFile, readConfigFile } from "./config-file.ts";
import { keyOf } from "./config-path.ts";
import { layer } from "./layers.ts";
import { type Environment, type Flags, overridesOf } from "./overrides.ts";
import type { ServerConfig } from "./schema.ts";
import { readSecretFiles } from "./secret-files.ts";

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
 * The settings of the file, over them those of the environment, over them the flags; for all others the
 * defaults. Throws a `ConfigError` that names every problem with its key and source.
 */
export async function loadConfig(options: LoadOptions = {}): Promise<ServerConfig> {
  const { cwd = process.cwd(), env = process.env, flags = {} } = options;
  const path = await findConfigFile(cwd, options.file);
  const file = path === undefined ? noFile(cwd) : await readConfigFile(path, env);
  const layered = layer(file, overridesOf({ env, flags, cwd }));
  const { sourceOf } = layered;
  const { values, faults } = await readSecretFiles(layered.values, file.folder);
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
