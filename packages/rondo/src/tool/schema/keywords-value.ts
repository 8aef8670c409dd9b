// Keywords about any value, numbers and texts.

import { canonical } from "./canonical.ts";
import { formats } from "./format.ts";
import { atLeast, atMost, compared, listAt, numberAt, schemaError, shortJson } from "./keyword-parts.ts";
import type { Keyword, KeywordUse } from "./keywords.ts";
import type { Check } from "./schema-compiler.ts";
import { Validation } from "./validation.ts";

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  null: (value) => value === null,
};

function type({ argument, path }: KeywordUse): Check {
  const names = (Array.isArray(argument) ? argument : [argument]) as unknown[];
  const tests = names.map((name) => {
    const test = typeof name === "string" && Object.hasOwn(types, name) ? types[name] : undefined;
    if (!test) throw schemaError(path, `one of ${Object.keys(types).join(", ")}`, name);
    return test;
  });
  const expected = `expected ${names.join(" or ")}`;
  const [only] = tests;
  const fits = tests.length === 1 && only ? only : (value: unknown) => tests.some((test) => test(value));
  return (value, place, validation) => fits(value) || validation.refuse(place, expected, value);
}

function constant({ argument }: KeywordUse): Check {
  const wanted = canonical(argument, new Validation());
  const expected = `Instance does not match ${shortJson(argument)}`;
  return (value, place, validation) =>
    canonical(value, validation) === wanted || validation.refuse(place, expected, value);
}

function choice({ argument, path }: KeywordUse): Check {
  const preparing = new Validation();
  const wanted = new Set(
    listAt(argument, path, "a list of values").map((value) => canonical(value, preparing)),
  );
  const expected = `Instance does not match any of ${shortJson(argument)}`;
  return (value, place, validation) =>
    wanted.has(canonical(value, validation)) || validation.refuse(place, expected, value);
}

/** In draft 4, and in what still follows it, `exclusiveMinimum: true` is said of `minimum`. */
function exclusive(other: "minimum" | "maximum", keyword: Keyword): Keyword {
  return (use) => {
    const { argument, schema } = use;
    if (argument === false) return undefined;
    return keyword(argument === true ? { ...use, argument: schema[other] } : use);
  };
}

function measureLength(value: unknown, validation: Validation): number | undefined {
  if (typeof value !== "string") return undefined;
  validation.spend(value.length >>> 4);
  return countCharacters(value);
}

/** Code points, as the standard counts. */
function countCharacters(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++)
    if ((text.codePointAt(index) as number) > 0xffff) {
      count -= 1;
      index += 1;
    }
  return count;
}

function pattern({ argument, path, compiler }: KeywordUse): Check {
  const fits = compiler.pattern(argument, path);
  const expected = `String does not match the pattern ${shortJson(argument)}`;
  return (value, place, validation) =>
    typeof value !== "string" || fits(value, validation.spend) || validation.refuse(place, expected, value);
}

function format({ argument }: KeywordUse): Check | undefined {
  if (typeof argument !== "string") return undefined;
  const fits = formats.get(argument);
  if (!fits) return undefined;
  return (value, place, validation) => {
    if (typeof value !== "string") return true;
    validation.spend(value.length >>> 4);
    return fits(value) || validation.refuse(place, `String does not match format "${argument}"`, value);
  };
}

function multipleOf({ argument, path }: KeywordUse): Check | undefined {
  const divisor = numberAt(argument, path);
  if (divisor === undefined) return undefined;
  if (divisor <= 0 || !Number.isFinite(divisor)) throw schemaError(path, "a number above 0", divisor);
  return (value, place, validation) =>
    typeof value !== "number" ||
    isMultiple(value, divisor, validation) ||
    validation.refuse(place, `${value} is not a multiple of ${divisor}`, value);
}

/** Exact, as the decimals are written: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, divisor: number, validation: Validation): boolean {
  if (!Number.isFinite(value)) return false;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  validation.spend(20); // the numbers may have hundreds of digits
  const [digits, power] = decimal(value);
  const [by, byPower] = decimal(divisor);
  const shift = power - byPower;
  return shift >= 0
    ? (digits * 10n ** BigInt(shift)) % by === 0n
    : digits % (by * 10n ** BigInt(-shift)) === 0n;
}

function decimal(value: number): [digits: bigint, power: number] {
  const [digits = "0", power = "0"] = String(Math.abs(value)).split("e");
  const [whole = "", fraction = ""] = digits.split(".");
  return [BigInt(whole + fraction), Number(power) - fraction.length];
}

const numberOf = (value: unknown) => (typeof value === "number" ? value : undefined);
const above = (value: number, bound: number) => value > bound;
const below = (value: number, bound: number) => value < bound;
const is = (words: string) => (value: number, bound: number) => `${value} is ${words} ${bound}`;

export const valueKeywords = {
  type,
  const: constant,
  enum: choice,
  minimum: compared(numberOf, atLeast, is("less than")),
  maximum: compared(numberOf, atMost, is("greater than")),
  exclusiveMinimum: exclusive("minimum", compared(numberOf, above, is("less than or equal to"))),
  exclusiveMaximum: exclusive("maximum", compared(numberOf, below, is("greater than or equal to"))),
  multipleOf,
  minLength: compared(
    measureLength,
    atLeast,
    (length, bound) => `String is too short (${length} < ${bound})`,
  ),
  maxLength: compared(measureLength, atMost, (length, bound) => `String is too long (${length} > ${bound})`),
  pattern,
  format,
} satisfies Record<string, Keyword>;
