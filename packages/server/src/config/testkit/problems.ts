// What a configuration is refused for, one line a problem.
import { resolveConfig } from "../check-config.ts";
import { ConfigError } from "../config-error.ts";
import { type LoadOptions, loadConfig } from "../load.ts";
import type { ConfigInput } from "../schema.ts";
import { folderWith } from "./folder.ts";

function linesOf(error: unknown): string[] {
  if (!(error instanceof ConfigError)) throw error;
  return error.problems.map(({ key, source, message }) => `${key} (${source}): ${message}`);
}

/** The problems of a load; none if it works. */
export async function problemsOf(options: LoadOptions): Promise<string[]> {
  try {
    await loadConfig({ env: {}, ...options });
    return [];
  } catch (error) {
    return linesOf(error);
  }
}

/** The problems of a `rondo.yaml` with this text. */
export async function problemsOfYaml(text: string, options: LoadOptions = {}): Promise<string[]> {
  using folder = folderWith({ "rondo.yaml": text });
  return await problemsOf({ cwd: folder.path, ...options });
}

/** The problems of settings given by a program, whatever they are. */
export function problemsOfInput(input: unknown): string[] {
  try {
    resolveConfig(input as ConfigInput);
    return [];
  } catch (error) {
    return linesOf(error);
  }
}
