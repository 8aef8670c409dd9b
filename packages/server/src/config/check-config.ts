// Holds values against the schema, and words what is wrong.

import type { z } from "zod";
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import { type ConfigPath, keyOf, keysOf, schemasAlong, valueAt } from "./config-path.ts";
import { notesOn } from "./fields.ts";
import { type ConfigInput, configSchema, type ServerConfig } from "./schema.ts";
import { nearest } from "./suggest.ts";

/** Where the value at a path comes from, in words. */
export type SourceOf = (path: ConfigPath) => string;

export type Checked =
  | { readonly config: ServerConfig; readonly problems: readonly [] }
  | { readonly config: undefined; readonly problems: readonly ConfigProblem[] };

/**
 * Settings as a program gives them, checked, with the defaults filled in. Reads no file and no environment.
 * Throws a `ConfigError`.
 */
export function resolveConfig(input: ConfigInput): ServerConfig {
  const { config, problems } = checkConfig(input, () => "the config");
  if (config === undefined) throw new ConfigError(problems);
  return config;
}

export function checkConfig(values: unknown, sourceOf: SourceOf): Checked {
  const { data, error } = configSchema.safeParse(values);
  if (error === undefined) return { config: data, problems: [] };
  const problems = error.issues.flatMap((issue) => problemsOf(issue, [], values, sourceOf));
  return { config: undefined, problems };
}

function problemsOf(
  issue: z.core.$ZodIssue,
  above: ConfigPath,
  values: unknown,
  sourceOf: SourceOf,
): ConfigProblem[] {
  const path = [...above, ...(issue.path as ConfigPath)];
  // The last way to satisfy a union is the one that can be written in a file.
  if (issue.code === "invalid_union" && issue.errors.length > 0)
    return (issue.errors.at(-1) ?? []).flatMap((inner) => problemsOf(inner, path, values, sourceOf));
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((name) => unknownKey([...path, name], path, sourceOf));
  const source = sourceOf(path);
  const value = valueAt(values, path);
  const message =
    value === undefined
      ? `is missing; expected ${issue.message}.`
      : `expected ${issue.message}, got ${shown(value, path)}.${hint(value, source)}`;
  return [{ key: keyOf(path), source, message }];
}

function unknownKey(path: ConfigPath, group: ConfigPath, sourceOf: SourceOf): ConfigProblem {
  const known = keysOf(schemasAlong(group).at(-1) ?? configSchema);
  const meant = nearest(String(path.at(-1)), known);
  const advice = meant === undefined ? `Known are ${known.join(", ")}.` : `Did you mean "${meant}"?`;
  return { key: keyOf(path), source: sourceOf(path), message: `is not a known key. ${advice}` };
}

/** A value for a message: short, and never a secret. */
function shown(value: unknown, path: ConfigPath): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) return "a group of keys";
  const isSecret = schemasAlong(path).some((schema) => notesOn(schema).isSecret);
  // A URL may hold a password.
  if (isSecret || (typeof value === "string" && value.includes("@"))) return "(hidden)";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function hint(value: unknown, source: string): string {
  // A trap that is hard to see through: nobody has set that variable.
  if (source.startsWith("the environment variable ") && String(value).startsWith("tcp://"))
    return " Kubernetes sets this variable for a Service named rondo; set enableServiceLinks to false in the pod.";
  return "";
}
