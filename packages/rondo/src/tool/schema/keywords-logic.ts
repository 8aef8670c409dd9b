// Keywords that apply other schemas to the same value.

import { branch, listAt } from "./keyword-parts.ts";
import type { Keyword, KeywordUse } from "./keywords.ts";
import type { Check } from "./schema-compiler.ts";

function branches({ argument, path, inPlace }: KeywordUse): Check[] {
  return listAt(argument, path, "a list of schemas").map((schema, index) =>
    branch(inPlace(schema, `${path}[${index}]`)),
  );
}

function allOf(use: KeywordUse): Check {
  const checks = branches(use);
  return (value, place, validation, evaluated) => {
    let isValid = true;
    for (const check of checks) if (!check(value, place, validation, evaluated)) isValid = false;
    return isValid;
  };
}

/** A choice by how many schemas fit. The issue is the choice, not why each schema failed. */
function choice(fits: (count: number) => boolean, message: (count: number) => string): Keyword {
  return (use) => {
    const checks = branches(use);
    return (value, place, validation, evaluated) => {
      const { length } = validation.silently(() =>
        checks.filter((check) => check(value, place, validation, evaluated)),
      );
      return fits(length) || validation.refuse(place, message(length), value);
    };
  };
}

function not({ argument, path, inPlace }: KeywordUse): Check {
  const node = inPlace(argument, path);
  return (value, place, validation) =>
    !validation.silently(() => node.check(value, place, validation, undefined)) ||
    validation.refuse(place, 'Instance matched "not" schema', value);
}

function condition({ argument, schema, path, inPlace }: KeywordUse): Check {
  const test = branch(inPlace(argument, path));
  const outcome = (keyword: "then" | "else") =>
    schema[keyword] === undefined
      ? undefined
      : branch(inPlace(schema[keyword], path.replace(/if$/, keyword)));
  const [yes, no] = [outcome("then"), outcome("else")];
  return (value, place, validation, evaluated) => {
    const isTrue = validation.silently(() => test(value, place, validation, evaluated));
    return (isTrue ? yes : no)?.(value, place, validation, evaluated) ?? true;
  };
}

export const logicKeywords = {
  anyOf: choice(
    (count) => count > 0,
    () => "Instance does not match any subschemas",
  ),
  allOf,
  oneOf: choice(
    (count) => count === 1,
    (count) => `Instance does not match exactly one subschema (${count} matches)`,
  ),
  not,
  if: condition,
} satisfies Record<string, Keyword>;
