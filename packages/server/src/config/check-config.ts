// Checks values against the schema, and words what is wrong.

import type { z } from "zod";
import { isPostgresUrl } from "../store/store-label.ts";
import { ConfigError, type ConfigProblem } from "./config-error.ts";
import { type ConfigPath, keyOf, keysOf, schemasAlong, valueAt } from "./config-path.ts";
import { notesOn } from "./fields.ts";
import { type ConfigInput, configSchema, type ServerConfig } from "./schema.ts";

/** Where the value at a path comes from, in words. */
export type SourceOf = (path: ConfigPath) => string;

export type Checked =
  | { readonly config: ServerConfig; readonly problems: readonly [] }
  | { readonly config: undefined; readonly problems: readonly ConfigProblem[] };

/** Checks the settings of a program and fills in the defaults. Reads no file and no environment. Throws a `ConfigError`. */
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
  // The last option of a union is the one that can be written in a file.
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
  if (isSecret || (typeof value === "string" && (value.includes("@") || isPostgresUrl(value))))
    return "(hidden)";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function hint(value: unknown, source: string): string {
  // Hard to find out: nobody set that variable.
  if (source.startsWith("the environment variable ") && String(value).startsWith("tcp://"))
    return " Kubernetes sets this variable for a Service named rondo; set enableServiceLinks to false in the pod.";
  return "";
}

/** The known key that was probably meant; undefined if none is similar. Ignores case, `_` and `-`. */
function nearest(word: string, known: readonly string[]): string | undefined {
  const wanted = plain(word);
  const [best] = known
    .map((candidate) => ({ candidate, distance: distance(wanted, plain(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= Math.max(1, wanted.length / 3) ? best.candidate : undefined;
}

function plain(word: string): string {
  // The time grows with the length, and no key is longer.
  return word.slice(0, 64).replace(/[_-]/g, "").toLowerCase();
}

/** How many letters to add, drop or change to get from one word to the other. */
function distance(a: string, b: string): number {
  if (sorted(a) === sorted(b)) return Number(a !== b); // letters in the wrong order are one slip
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of a.split("").entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split("").entries())
      next.push(
        Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

function sorted(word: string): string {
  return word.split("").toSorted().join("");
}
