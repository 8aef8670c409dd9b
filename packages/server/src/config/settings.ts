// All settings in one list, derived from the schema: for the environment, the flags and the docs.

import type { z } from "zod";
import { definitionOf, inner } from "./config-path.ts";
import { notesOn } from "./fields.ts";
import { configSchema } from "./schema.ts";

export interface Setting {
  /** As it is written in the docs: `runs.leaseMs`, `endpoints[].url`, `models.NAME.url`. */
  readonly key: string;
  /** Its path; undefined below a list or a name. */
  readonly path: readonly string[] | undefined;
  readonly description: string;
  readonly expected: string;
  readonly default: unknown;
  /** The environment variable; undefined if there is none. */
  readonly env: string | undefined;
  /** The flag with its argument: `--port <number>`. One that begins with `--no-` has none, and means false. */
  readonly flag: string | undefined;
  /** The only command that has the flag; undefined if both have it. */
  readonly command: "serve" | "worker" | undefined;
}

/** A variable or flag that sets more than one setting. */
export interface Shortcut {
  readonly env: string;
  readonly flag?: string;
  readonly expected: string;
  readonly description: string;
}

export const modelUrl = {
  env: "RONDO_MODEL_URL",
  flag: "--model-url <url>",
  expected: "an http or https URL, such as http://localhost:11434/v1",
  description: "An endpoint that replaces those of the file: all its models under their own names.",
} as const satisfies Shortcut;

export const modelApiKey = {
  env: "RONDO_MODEL_API_KEY",
  expected: "a key, without spaces",
  description: "The key for the endpoint of `RONDO_MODEL_URL` or `--model-url`.",
} as const satisfies Shortcut;

export const authKeys = {
  env: "RONDO_AUTH_KEYS",
  expected: "owner=sha256:HASH, separated by commas",
  description: "API keys that replace those of the file (`auth.keys`).",
} as const satisfies Shortcut;

export const shortcuts: readonly Shortcut[] = [modelUrl, modelApiKey, authKeys];

/** Every setting, in the order of the schema. */
export const settings: readonly Setting[] = [...settingsIn(configSchema, "", [])];

/** A flag as the parser of the command line names it: `--model-url <url>` is `modelUrl`. */
export function camelCase(flag: string): string {
  const [name = ""] = flag.replace(/^--/, "").split(" ");
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** A default as people write it; undefined if there is none. */
export function defaultText({ default: value }: Setting): string | undefined {
  return value === undefined || typeof value === "string" ? value : JSON.stringify(value);
}

function* settingsIn(
  schema: z.core.$ZodType,
  key: string,
  path: readonly string[] | undefined,
): Generator<Setting> {
  const kind = inner(schema);
  const def = definitionOf(kind);
  if (def.type === "object") {
    if (notesOn(schema).description !== undefined) yield settingOf(schema, key, path);
    for (const [name, field] of Object.entries(def.shape))
      yield* settingsIn(field, key === "" ? name : `${key}.${name}`, path && [...path, name]);
    return;
  }
  yield settingOf(schema, key, path);
  if (def.type === "array" && isGroup(def.element)) yield* settingsIn(def.element, `${key}[]`, undefined);
  if (def.type === "record" && isGroup(def.valueType))
    yield* settingsIn(def.valueType, `${key}.NAME`, undefined);
}

function settingOf(schema: z.core.$ZodType, key: string, path: readonly string[] | undefined): Setting {
  const kind = inner(schema);
  const { description = "", flag, command } = notesOn(schema);
  const { expected = "" } = notesOn(kind);
  const def = definitionOf(schema);
  const byDefault = def.type === "default" ? def.defaultValue : undefined;
  const env = path && isText(kind) ? variableOf(path) : undefined;
  return { key, path, description, expected, default: byDefault, env, flag, command };
}

/** Whether a value of this kind can be written as text. */
function isText(kind: z.core.$ZodType): boolean {
  const def = definitionOf(kind);
  if (def.type === "array") return isText(inner(def.element));
  return ["string", "number", "boolean", "enum"].includes(def.type);
}

function isGroup(schema: z.core.$ZodType): boolean {
  return definitionOf(inner(schema)).type === "object";
}

/** `runs.leaseMs` is `RONDO_RUNS_LEASE_MS`. */
function variableOf(path: readonly string[]): string {
  const words = path.map((part) => part.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase());
  return ["RONDO", ...words].join("_");
}
