// Validates bodies and queries with zod, with errors that a client can act on: the field, what was expected, and what
// came.

import type { z } from "zod";
import { type ApiError, invalidRequest } from "./api-error.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/**
 * Validates a value. Throws a 400 for its first fault, with the path from the body: `at` is where in `body` the value
 * stands. Default: the value is the body.
 */
export function parseField<T extends z.ZodType>(
  schema: T,
  value: unknown,
  body = value,
  at: Path = [],
): z.infer<T> {
  const { success, data, error } = schema.safeParse(value);
  if (!success) throw fieldError(error, body, at);
  return data;
}

function fieldError(error: z.ZodError, body: unknown, at: Path): ApiError {
  const issue = error.issues[0];
  if (!issue) return invalidRequest(null, "The request is not valid.");
  const { path: inner, expected } = blame(issue);
  const path = [...at, ...inner];
  const param = path.length === 0 ? null : formatPath(path);
  const received = describeValue(valueAt(body, path));
  return invalidRequest(param, `${param ?? "The body"}: expected ${expected}, got ${received}.`);
}

/** A path in the notation of clients: `input[2].content[0].text`. Long names are truncated. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    const name = String(key).slice(0, 64);
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

/** A value in a few words, whatever its size. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return JSON.stringify(value);
  return value.length > 60 ? `the text ${JSON.stringify(value.slice(0, 57))}…` : JSON.stringify(value);
}

/** The value at a path; `undefined` if there is none. */
function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<PropertyKey, unknown>)[key];
  }
  return found;
}

interface Blame {
  path: PropertyKey[];
  expected: string;
}

function blame(issue: Issue): Blame {
  if (issue.code === "invalid_union" && issue.errors.length > 0) return blameBranch(issue.path, issue.errors);
  return { path: issue.path, expected: expectedOf(issue) };
}

/** Of the branches of a union, the one that the value was most likely meant to be explains the fault. */
function blameBranch(path: Path, branches: readonly (readonly Issue[])[]): Blame {
  const ranked = branches.map((issues) => ({ issues, rank: rankOf(issues) }));
  const highest = Math.max(...ranked.map(({ rank }) => rank));
  const best = ranked.filter(({ rank }) => rank === highest).flatMap(({ issues }) => issues.slice(0, 1));
  if (highest === 0) {
    const forms = best.map((issue) => blame(issue).expected);
    return { path: [...path], expected: [...new Set(forms)].filter((form) => form !== "null").join(" or ") };
  }
  const { path: inner, expected } = blame(best[0] as Issue);
  return { path: [...path, ...inner], expected };
}

/** 0: another kind of value; 1, 2: an object of another type; 3: the right branch with a fault inside. */
function rankOf(issues: readonly Issue[]): number {
  if (issues.some(({ path, code }) => path.length === 0 && code !== "invalid_union")) return 0;
  const ranks = issues.map((issue) => {
    if (issue.code === "invalid_union" && issue.errors.length > 0 && issue.path.length === 0)
      return Math.max(...issue.errors.map(rankOf));
    if (issue.path[0] !== "type") return 3;
    // That a type is not a string says more than that it is none of the known ones.
    return issue.code === "invalid_type" ? 2 : 1;
  });
  return Math.min(...ranks);
}

const kinds: Record<string, string> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

function expectedOf(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return kinds[issue.expected] ?? `a value of type ${issue.expected}`;
    case "invalid_value":
      return oneOf(issue.values);
    case "invalid_union":
      return issue.inclusive === false ? issue.message : oneOf(issue.options ?? []);
    case "too_small":
      if (issue.origin === "string") return "a string that is not empty";
      if (issue.origin === "array") return `a list of at least ${issue.minimum}`;
      return `a number of at least ${issue.minimum}`;
    case "too_big":
      if (issue.origin === "string") return `a string of at most ${issue.maximum} characters`;
      if (issue.origin === "array") return `a list of at most ${issue.maximum}`;
      return `a number of at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

/** A choice in words: `"a"`, or `one of "a", "b"`. */
function oneOf(values: readonly unknown[]): string {
  const words = values
    .filter((value) => value !== null && value !== undefined)
    .map((value) => JSON.stringify(value));
  return words.length === 1 ? String(words[0]) : `one of ${words.join(", ")}`;
}
