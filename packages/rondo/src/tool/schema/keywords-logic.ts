// Keywords that judge the same value by other schemas.

import type { Given, Keyword } from "./keywords.ts";
import type { Check, SchemaNode } from "./schema-compiler.ts";
import type { Looked } from "./validation.ts";
import { listAt } from "./wrong.ts";

/** What a schema has looked at counts only if the value fits it. */
export function inTrial(node: SchemaNode): Check {
  return (value, place, validation, looked) => {
    const own: Looked | undefined = looked && new Set();
    const isFine = node.check(value, place, validation, own);
    if (!isFine || !looked || !own) return isFine;
    validation.spend(own.size);
    for (const key of own) looked.add(key);
    return true;
  };
}

function trials({ argument, path, inPlace }: Given): Check[] {
  return listAt(argument, path, "a list of schemas").map((schema, index) =>
    inTrial(inPlace(schema, `${path}[${index}]`)),
  );
}

function allOf(given: Given): Check {
  const checks = trials(given);
  return (value, place, validation, looked) => {
    let isFine = true;
    for (const check of checks) if (!check(value, place, validation, looked)) isFine = false;
    return isFine;
  };
}

/** Of a choice that does not fit, the choice is the complaint, not why each of its schemas has failed. */
function anyOf(given: Given): Check {
  const checks = trials(given);
  return (value, place, validation, looked) => {
    const count = validation.silently(
      () => checks.filter((check) => check(value, place, validation, looked)).length,
    );
    return count > 0 || validation.refuse(place, "Instance does not match any subschemas", value);
  };
}

function oneOf(given: Given): Check {
  const checks = trials(given);
  return (value, place, validation, looked) => {
    const count = validation.silently(
      () => checks.filter((check) => check(value, place, validation, looked)).length,
    );
    return (
      count === 1 ||
      validation.refuse(place, `Instance does not match exactly one subschema (${count} matches)`, value)
    );
  };
}

function not({ argument, path, inPlace }: Given): Check {
  const node = inPlace(argument, path);
  return (value, place, validation) =>
    !validation.silently(() => node.check(value, place, validation, undefined)) ||
    validation.refuse(place, 'Instance matched "not" schema', value);
}

function condition({ argument, schema, path, inPlace }: Given): Check {
  const test = inTrial(inPlace(argument, path));
  const branch = (keyword: "then" | "else") =>
    schema[keyword] === undefined
      ? undefined
      : inTrial(inPlace(schema[keyword], path.replace(/if$/, keyword)));
  const [yes, no] = [branch("then"), branch("else")];
  return (value, place, validation, looked) => {
    const isTrue = validation.silently(() => test(value, place, validation, looked));
    return (isTrue ? yes : no)?.(value, place, validation, looked) ?? true;
  };
}

export const logicKeywords = { anyOf, allOf, oneOf, not, if: condition } satisfies Record<string, Keyword>;
