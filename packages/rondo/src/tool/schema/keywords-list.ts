// Keywords about lists.

import { canonical } from "./canonical.ts";
import { atLeast, atMost, compared, listAt, numberAt } from "./keyword-parts.ts";
import type { Keyword, KeywordUse } from "./keywords.ts";
import type { Check, SchemaNode } from "./schema-compiler.ts";
import type { Evaluated, Place, Validation } from "./validation.ts";

const countItems = (value: unknown) => (Array.isArray(value) ? value.length : undefined);

/** The first items, each with a schema of its own. */
function prefix(schemas: readonly unknown[], { path, inside }: KeywordUse): Check {
  const nodes = schemas.map((schema, index) => inside(schema, `${path}[${index}]`));
  return (value, place, validation, evaluated) => {
    if (!Array.isArray(value)) return true;
    let isValid = true;
    for (const [index, node] of nodes.slice(0, value.length).entries())
      if (!checkItem(node, value, index, place, validation, evaluated)) isValid = false;
    return isValid;
  };
}

/** The items from `start` on; those that were evaluated may be skipped. */
function remaining(node: SchemaNode, start: number, skipsEvaluated = false): Check {
  return (value, place, validation, evaluated) => {
    if (!Array.isArray(value)) return true;
    if (skipsEvaluated) validation.spend(value.length);
    let isValid = true;
    for (let index = start; index < value.length; index++) {
      if (skipsEvaluated && evaluated?.has(index)) continue;
      if (!checkItem(node, value, index, place, validation, evaluated)) isValid = false;
    }
    return isValid;
  };
}

function checkItem(
  node: SchemaNode,
  list: readonly unknown[],
  index: number,
  outer: Place | undefined,
  validation: Validation,
  evaluated: Evaluated | undefined,
): boolean {
  evaluated?.add(index);
  return node.check(list[index], { outer, step: index }, validation, undefined);
}

function prefixItems(use: KeywordUse): Check {
  return prefix(listAt(use.argument, use.path, "a list of schemas"), use);
}

/** Before 2020-12 a list of schemas was what `prefixItems` is now. */
function items(use: KeywordUse): Check {
  const { argument, schema, path, inside } = use;
  if (Array.isArray(argument)) return prefix(argument, use);
  const { prefixItems: first } = schema;
  return remaining(inside(argument, path), Array.isArray(first) ? first.length : 0);
}

function additionalItems({ argument, schema, path, inside }: KeywordUse): Check | undefined {
  const node = inside(argument, path);
  return Array.isArray(schema["items"]) ? remaining(node, schema["items"].length) : undefined;
}

function contains({ argument, schema, path, inside }: KeywordUse): Check {
  const node = inside(argument, path);
  const least = numberAt(schema["minContains"], "minContains") ?? 1;
  const most = numberAt(schema["maxContains"], "maxContains") ?? Number.POSITIVE_INFINITY;
  return (value, place, validation, evaluated) => {
    if (!Array.isArray(value)) return true;
    let found = 0;
    validation.silently(() => {
      for (const [index, item] of (value as unknown[]).entries()) {
        if (!node.check(item, { outer: place, step: index }, validation, undefined)) continue;
        evaluated?.add(index);
        found += 1;
      }
    });
    if (found >= least && found <= most) return true;
    const words = found < least ? `must contain at least ${least}` : `may contain at most ${most}`;
    return validation.refuse(place, `Array ${words} items matching the schema (${found} do)`, value);
  };
}

function unevaluatedItems({ argument, path, inside, node }: KeywordUse): Check {
  node.tracksEvaluated = true;
  return remaining(inside(argument, path), 0, true);
}

function uniqueItems({ argument }: KeywordUse): Check | undefined {
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
  minItems: compared(countItems, atLeast, (count, bound) => `Array has too few items (${count} < ${bound})`),
  maxItems: compared(countItems, atMost, (count, bound) => `Array has too many items (${count} > ${bound})`),
  prefixItems,
  items,
  additionalItems,
  contains,
  unevaluatedItems,
  uniqueItems,
} satisfies Record<string, Keyword>;
