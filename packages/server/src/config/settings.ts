// All settings in one list, read off the schema: for the environment, the flags and the docs.

import type { z } from "zod";
import { definitionOf, inner } from "./config-path.ts";
import { type FieldNotes, notesOn } from "./fields.ts";
import { configSchema } from "./schema.ts";

export interface Setting {
  /** As it is written in the docs: `runs.leaseMs`, `endpoints[].url`, `models.NAME.url`. */
  readonly key: string;
  /** The way to it, if it has a fixed place; undefined below a list or a name. */
  readonly path: readonly string[] | undefined;
  readonly description: string;
  readonly expected: string;
  /** `undefined` if it has none. */
  readonly default: unknown;
  /** The variable that sets it; undefined if none can. */
  readonly env: string | undefined;
  /** The flag that sets it, with what comes after it. */
  readonly flag: string | undefined;
}

/** A way to set several things with one word, beside the settings themselves. */
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
  description: "One endpoint, instead of those of the file: all its models under their own names.",
} as const satisfies Shortcut;

export const modelApiKey = {
  env: "RONDO_MODEL_API_KEY",
  expected: "a key, without spaces",
  description: "The key for the endpoint of `RONDO_MODEL_URL` or `--model-url`.",
} as const satisfies Shortcut;

export const authKeys = {
  env: "RONDO_AUTH_KEYS",
  expected: "owner=sha256:HASH, with commas between several",
  description: "The API keys, instead of those of the file (`auth.keys`).",
} as const satisfies Shortcut;

export const shortcuts: readonly Shortcut[] = [modelUrl, modelApiKey, authKeys];

/** Every setting, in the order of the schema. */
export const settings: readonly Setting[] = [...settingsIn(configSchema, "", [])];

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
  const { description = "", flag } = notesOn(schema);
  const { expected = "" }: FieldNotes = notesOn(kind);
  const def = definitionOf(schema);
  return {
    key,
    path,
    description,
    expected,
    default: def.type === "default" ? def.defaultValue : undefined,
    env: path && isText(kind) ? variableOf(path) : undefined,
    flag,
  };
}

/** Whether one line of text can say a value of this kind. */
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
