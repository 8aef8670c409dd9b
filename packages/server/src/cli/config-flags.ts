// The flags of `rondo serve` and `rondo worker`, derived from the settings.

import type { Command } from "commander";
import { camelCase, defaultText, modelUrl, settings } from "../config/settings.ts";
import { configFlag } from "./flag-values.ts";

/** Flags as commander reads them; those that begin with `--no-` are false if given. */
export type TypedFlags = Readonly<Record<string, string | boolean | undefined>>;

/** Adds the flag of every setting that the command has, and `--config`. */
export function addConfigFlags(command: Command, name: "serve" | "worker"): Command {
  command.option(modelUrl.flag, plain(`${modelUrl.description} (${modelUrl.env})`));
  for (const setting of settings) {
    const { flag, description, env } = setting;
    if (flag === undefined || (setting.command ?? name) !== name) continue;
    // The default is only shown, not set: commander's would look like a given flag.
    const value = flag.startsWith("--no-") ? undefined : defaultText(setting);
    const byDefault = value === undefined ? "" : `; default: ${value}`;
    command.option(flag, plain(`${description} (${env}${byDefault})`));
  }
  return command.option(...configFlag);
}

/** The flags of settings as `loadConfig()` takes them: what was typed. */
export function settingFlags(typed: TypedFlags): Record<string, string | undefined> {
  const flags: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(typed)) if (typeof value === "string") flags[name] = value;
  for (const { flag } of settings) {
    if (flag === undefined || !flag.startsWith("--no-")) continue;
    // Commander has `--no-worker` as `worker: false`, and true without it.
    if (typed[camelCase(flag.replace("--no-", "--"))] === false) flags[camelCase(flag)] = "false";
  }
  return flags;
}

/** Descriptions are Markdown, and a terminal is not. */
function plain(text: string): string {
  return text.replaceAll("`", "");
}
