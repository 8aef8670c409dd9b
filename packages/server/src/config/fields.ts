// The kinds of values that settings have. Each says in words what it allows, for messages and for the docs.

import { z } from "zod";

/** Notes on a schema beside its type. `flag` and `isSecret` belong to settings, `expected` to kinds of values. */
export interface FieldNotes {
  /** What is allowed, as it stands after "expected": `a whole number from 0`. */
  expected?: string;
  description?: string;
  /** The flag of `rondo serve` and `rondo worker`, with its argument: `--port <number>`. */
  flag?: string;
  /** The only command that has the flag. Default: both have it. */
  command?: "serve" | "worker";
  /** Never shown in a message. */
  isSecret?: boolean;
}

/** The notes on this very schema, not on the one it wraps. */
export function notesOn(schema: z.core.$ZodType): FieldNotes {
  return (z.globalRegistry.get(schema) ?? {}) as FieldNotes;
}

function withExpected<T extends z.ZodType>(schema: T, expected: string): T {
  return schema.meta({ expected } satisfies FieldNotes);
}

export function wholeNumber(min: number, max?: number) {
  const expected = `a whole number from ${min}${max === undefined ? "" : ` to ${max}`}`;
  const schema = z.int(expected).min(min, expected);
  return withExpected(max === undefined ? schema : schema.max(max, expected), expected);
}

export function milliseconds(min = 1) {
  // What timers can hold; above it they would fire at once.
  const max = 2 ** 31 - 1;
  const expected = `a whole number of milliseconds from ${min}`;
  return withExpected(z.int(expected).min(min, expected).max(max, expected), expected);
}

export function amountAbove0(of: string) {
  const expected = `a number of ${of} above 0`;
  return withExpected(z.number(expected).positive(expected), expected);
}

export function flagValue() {
  return withExpected(z.boolean("true or false"), "true or false");
}

/** On, off, or decided case by case. */
export function autoOrFlag() {
  const expected = "auto, true or false";
  return z.union([z.literal("auto"), withExpected(z.boolean(expected), expected)]);
}

export function choice<const T extends readonly string[]>(words: T) {
  const expected = `one of ${words.join(", ")}`;
  return withExpected(z.enum(words, expected), expected);
}

/** Text that is not empty and that passes `isAllowed`. `explain` words what is expected instead of other values. */
export function text(
  expected: string,
  isAllowed: (value: string) => boolean = () => true,
  explain: (value: unknown) => string = () => expected,
) {
  const schema = z
    .string({ error: ({ input }) => explain(input) })
    .refine((value) => value.trim() !== "" && isAllowed(value), { error: ({ input }) => explain(input) });
  return withExpected(schema, expected);
}

export function httpUrl(example: string) {
  return text(`an http or https URL, such as ${example}`, (value) =>
    /^https?:$/.test(URL.parse(value)?.protocol ?? ""),
  );
}

/** The path of a file that holds a value. */
export function filePath() {
  return text("the path of a file").optional();
}

/** A value that only code can make, such as a tool. */
export function made<T>(expected: string, isOne: (value: unknown) => boolean) {
  return withExpected(z.custom<T>(isOne, expected), expected);
}

export function listOf<T extends z.ZodType>(element: T, expected: string) {
  return withExpected(z.array(element, expected), expected);
}

export function byName<T extends z.ZodType>(value: T, expected: string) {
  return withExpected(z.record(z.string(), value, expected), expected);
}

/** Names with texts: headers, variables. They may hold secrets. */
export function secretTexts(expected: string, description: string) {
  return byName(z.string("text"), expected).optional().meta({ description, isSecret: true });
}

/** A group of keys that knows no others. */
export function group<T extends z.core.$ZodLooseShape>(shape: T) {
  const expected = `a group with the keys ${Object.keys(shape).join(", ")}`;
  return withExpected(z.strictObject(shape, expected), expected);
}

/** A group of the config that may be left out; its defaults apply then too. */
export function section<T extends z.core.$ZodLooseShape>(description: string, shape: T) {
  return group(shape)
    .prefault({} as never)
    .describe(description);
}

/** Hosts that may be reached although they are private. */
export function privateHosts() {
  const host = text("a host of a URL, with or without a port, or *", isUrlHost);
  return listOf(host, "a list of hosts").default([]);
}

function isUrlHost(value: string): boolean {
  return value === "*" || URL.parse(`http://${value}/`)?.pathname === "/";
}
