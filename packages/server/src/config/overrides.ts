// The settings of the environment and the flags, which override those of the file.

import { resolve } from "node:path";
import { type ConfigPath, valueFromText } from "./config-path.ts";
import { authKeys, camelCase, modelApiKey, modelUrl, settings } from "./settings.ts";

/** The variables of a process. Empty ones count as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Flags by their names in camelCase, as they were typed: `{ modelUrl: "http://…", port: "4500" }`. */
export type Flags = Readonly<Record<string, string | undefined>>;

/** One value of a source that is stronger than the file. */
export interface Override {
  readonly path: ConfigPath;
  readonly value: unknown;
  readonly source: string;
}

interface Given {
  readonly env: Environment;
  readonly flags: Flags;
  readonly cwd: string;
}

/** The overrides of the environment and then, as they are stronger, of the flags. */
export function overridesOf({ env, flags, cwd }: Given): Override[] {
  const overrides: Override[] = [];
  const take = (path: readonly string[], text: string | undefined, source: string) => {
    if (text === undefined || text.trim() === "") return;
    // A path that was typed is relative to where it was typed.
    const value = path.at(-1)?.endsWith("File") ? resolve(cwd, text) : valueFromText(text, path);
    overrides.push({ path, value, source });
  };
  for (const { path, env: name } of settings)
    if (path && name !== undefined) take(path, env[name], variable(name));
  for (const { path, flag } of settings)
    if (path && flag !== undefined) take(path, flags[camelCase(flag)], theFlag(flag));
  return [...keysOf(env), ...endpointOf(env, flags), ...overrides];
}

/** The endpoint of `--model-url` or `RONDO_MODEL_URL`, which replaces all others. */
function endpointOf(env: Environment, flags: Flags): Override[] {
  const typed = flags[camelCase(modelUrl.flag)]?.trim();
  const url = typed || env[modelUrl.env]?.trim();
  if (!url) return [];
  const source = typed ? theFlag(modelUrl.flag) : variable(modelUrl.env);
  const key = env[modelApiKey.env]?.trim();
  return [
    { path: ["endpoints"], value: [{}], source },
    { path: ["endpoints", 0, "url"], value: url, source },
    ...(key ? [{ path: ["endpoints", 0, "apiKey"], value: key, source: variable(modelApiKey.env) }] : []),
  ];
}

function keysOf(env: Environment): Override[] {
  const text = env[authKeys.env]?.trim();
  if (!text) return [];
  const value = text.split(",").map((pair) => {
    const [owner = "", hash = ""] = pair.split("=", 2);
    return { owner: owner.trim(), hash: hash.trim() };
  });
  return [{ path: ["auth", "keys"], value, source: variable(authKeys.env) }];
}

function variable(name: string): string {
  return `the environment variable ${name}`;
}

function theFlag(flag: string): string {
  return `the flag ${flag.split(" ")[0]}`;
}
