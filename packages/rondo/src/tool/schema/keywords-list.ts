// Keywords about lists.

import { canonical } from "./canonical.ts";
import type { Given, Keyword } from "./keywords.ts";
import type { Check, SchemaNode } from "./schema-compiler.ts";
import type { Looked, Place, Validation } from "./validation.ts";
import { listAt, numberAt } from "./wrong.ts";

function count(fits: (count: number, bound: number) => boolean, words: string): Keyword {
  return ({ argument, path }) => {
    const bound = numberAt(argument, path);
    if (bound === undefined) return undefined;
    return (value, place, validation) =>
      !Array.isArray(value) ||
      fits(value.length, bound) ||
      validation.refuse(place, `Array has too ${words} ${bound})`.replace("#", `${value.length}`), value);
  };
}

function prefix(schemas: readonly unknown[], { path, inside }: Given): Check {
  const nodes = schemas.map((schema, index) => inside(schema, `${path}[${index}]`));
  return (value, place, validation, looked) => {
    if (!Array.isArray(value)) return true;
    let isFine = true;
    for (const [index, node] of nodes.slice(0, value.length).entries())
      if (!checkItem(node, value, index, place, validation, looked)) isFine = false;
    return isFine;
  };
}

/** The items after the first ones, which have schemas of their own. */
function rest(node: SchemaNode, start: number): Check {
  return (value, place, validation, looked) => {
    if (!Array.isArray(value)) return true;
    let isFine = true;
    for (let index = start; index < value.length; index++)
      if (!checkItem(node, value, index, place, validation, looked)) isFine = false;
    return isFine;
  };
}

function checkItem(
  node: SchemaNode,
  list: readonly unknown[],
  index: number,
  outer: Place | undefined,
  validation: Validation,
  looked: Looked | undefined,
): boolean {
  looked?.add(index);
  return node.check(list[index], { outer, step: index }, validation, undefined);
}

function prefixItems(given: Given): Check {
  return prefix(listAt(given.argument, given.path, "a list of schemas"), given);
}

/** Before 2020-12 a list of schemas was what `prefixItems` is now. */
function items(given: Given): Check {
  const { argument, schema, path, inside } = given;
  if (Array.isArray(argument)) return prefix(argument, given);
  const { prefixItems: first } = schema;
  return rest(inside(argument, path), Array.isArray(first) ? first.length : 0);
}

function additionalItems({ argument, schema, path, inside }: Given): Check | undefined {
  const node = inside(argument, path);
  return Array.isArray(schema["items"]) ? rest(node, schema["items"].length) : undefined;
}

function contains({ argument, schema, path, inside }: Given): Check {
  const node = inside(argument, path);
  const least = numberAt(schema["minContains"], "minContains") ?? 1;
  const most = numberAt(schema["maxContains"], "maxContains") ?? Number.POSITIVE_INFINITY;
  return (value, place, validation, looked) => {
    if (!Array.isArray(value)) return true;
    let found = 0;
    validation.silently(() => {
      for (const [index, item] of (value as unknown[]).entries()) {
        if (!node.check(item, { outer: place, step: index }, validation, undefined)) continue;
        looked?.add(index);
        found += 1;
      }
    });
    if (found < least)
      return validation.refuse(
        place,
        `Array must contain at least ${least} items matching the schema (${found} do)`,
        value,
      );
    return (
      found <= most ||
      validation.refuse(
        place,
        `Array may contain at most ${most} items matching the schema (${found} do)`,
        value,
      )
    );
  };
}

function unevaluatedItems({ argument, path, inside, node: self }: Given): Check {
  const node = inside(argument, path);
  self.tracks = true;
  return (value, place, validation, looked) => {
    if (!Array.isArray(value)) return true;
    validation.spend(value.length);
    let isFine = true;
    for (let index = 0; index < value.length; index++)
      if (!looked?.has(index) && !checkItem(node, value, index, place, validation, looked)) isFine = false;
    return isFine;
  };
}

function uniqueItems({ argument }: Given): Check | undefined {
  if (argument !== true) return undefined;
  return (value, place, validation) => {
    if (!Array.isArray(value)) return true;
    const first = new Map<string, number>();
    for (const [index, item] of (value as unknown[]).entries()) {
      const text = canonical(item, validation);
      const earlier = first.get(text);
      if (earlier !== undefined)
        return validation.refuse(place, `Duplicate items at indexes ${earlier} and ${index}`, value);
      first.set(text, index);
    }
    return true;
  };
}

export const listKeywords = {
  minItems: count((length, bound) => length >= bound, "few items (# <"),
  maxItems: count((length, bound) => length <= bound, "many items (# >"),
  prefixItems,
  items,
  additionalItems,
  contains,
  unevaluatedItems,
  uniqueItems,
} satisfies Record<string, Keyword>;
