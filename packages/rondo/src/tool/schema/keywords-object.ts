// Keywords about objects. A property that is undefined is absent, as in JSON.

import {
  atLeast,
  atMost,
  branch,
  compared,
  isObject,
  namesAt,
  type Properties,
  schemasByName,
  shortJson,
} from "./keyword-parts.ts";
import type { Keyword, KeywordUse } from "./keywords.ts";
import type { Check, SchemaNode } from "./schema-compiler.ts";
import type { Evaluated, Validation } from "./validation.ts";

function has(value: Properties, key: string): boolean {
  return Object.hasOwn(value, key) && value[key] !== undefined;
}

function keysOf(value: Properties, validation: Validation): string[] {
  const keys = Object.keys(value);
  validation.spend(keys.length);
  return keys.filter((key) => value[key] !== undefined);
}

function countKeys(value: unknown, validation: Validation): number | undefined {
  return isObject(value) ? keysOf(value, validation).length : undefined;
}

/** What a schema asks for, in a few words: `number`, `one of "a", "b"`, `string or null`. */
function expectation(given: unknown): string {
  const schema = Object(given) as { const?: unknown; enum?: unknown; type?: unknown };
  if (schema.const !== undefined) return shortJson(schema.const);
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.slice(0, 20).map(shortJson).join(", ")}`;
  if (typeof schema.type === "string") return schema.type;
  return Array.isArray(schema.type) ? schema.type.join(" or ") : "a value";
}

function required({ argument, schema, path }: KeywordUse): Check {
  const names = namesAt(argument, path);
  const properties = (schema["properties"] ?? {}) as Properties;
  return (value, place, validation) => {
    if (!isObject(value)) return true;
    validation.spend(names.length);
    let isValid = true;
    for (const name of names) {
      if (has(value, name)) continue;
      const known = !place && Object.hasOwn(properties, name) ? properties[name] : undefined;
      const missing = { outer: place, step: name };
      isValid = validation.fail(missing, () => `expected ${expectation(known)}, got nothing`);
    }
    return isValid;
  };
}

function propertyNames({ argument, path, inside }: KeywordUse): Check {
  const node = inside(argument, path);
  return (value, outer, validation) => {
    if (!isObject(value)) return true;
    let isValid = true;
    for (const key of keysOf(value, validation))
      if (!node.check(key, { outer, step: key }, validation, undefined)) isValid = false;
    return isValid;
  };
}

/** Checks for objects that have a certain property. */
function dependent(checks: readonly [name: string, check: Check][]): Check {
  return (value, place, validation, evaluated) => {
    if (!isObject(value)) return true;
    validation.spend(checks.length);
    let isValid = true;
    for (const [name, check] of checks)
      if (has(value, name) && !check(value, place, validation, evaluated)) isValid = false;
    return isValid;
  };
}

/** Properties that another one needs: `{ card: ["address"] }`. */
function needs(name: string, needed: readonly string[]): Check {
  return (value, place, validation) => {
    validation.spend(needed.length);
    const missing = needed.find((other) => !has(value as Properties, other));
    return (
      missing === undefined ||
      validation.refuse(place, `Instance has "${name}" but does not have "${missing}"`, value)
    );
  };
}

function dependentRequired({ argument, path }: KeywordUse): Check {
  return dependent(
    schemasByName(argument, path).map(([name, names]) => [
      name,
      needs(name, namesAt(names, `${path}.${name}`)),
    ]),
  );
}

/** Also the older `dependencies`, which may be lists of names. */
function dependentSchemas({ argument, path, inPlace }: KeywordUse): Check {
  return dependent(
    schemasByName(argument, path).map(([name, part]) => [
      name,
      Array.isArray(part)
        ? needs(name, namesAt(part, `${path}.${name}`))
        : branch(inPlace(part, `${path}.${name}`)),
    ]),
  );
}

function properties({ argument, path, inside }: KeywordUse): Check {
  const nodes = schemasByName(argument, path).map(
    ([name, part]) => [name, inside(part, `${path}.${name}`)] as const,
  );
  return (value, place, validation, evaluated) => {
    if (!isObject(value)) return true;
    validation.spend(nodes.length);
    let isValid = true;
    for (const [name, node] of nodes) {
      if (!has(value, name)) continue;
      evaluated?.add(name);
      if (!node.check(value[name], { outer: place, step: name }, validation, undefined)) isValid = false;
    }
    return isValid;
  };
}

function patternProperties({ argument, path, inside, compiler }: KeywordUse): Check {
  const nodes = schemasByName(argument, path).map(
    ([source, part]) => [compiler.pattern(source, path), inside(part, `${path}.${source}`)] as const,
  );
  return (value, place, validation, evaluated) => {
    if (!isObject(value)) return true;
    let isValid = true;
    for (const key of keysOf(value, validation))
      for (const [fits, node] of nodes) {
        if (!fits(key, validation.spend)) continue;
        evaluated?.add(key);
        if (!node.check(value[key], { outer: place, step: key }, validation, undefined)) isValid = false;
      }
    return isValid;
  };
}

/** A schema for the properties that are not skipped. */
function otherProperties(
  node: SchemaNode,
  isSkipped: (key: string, validation: Validation, evaluated: Evaluated | undefined) => boolean,
): Check {
  return (value, place, validation, evaluated) => {
    if (!isObject(value)) return true;
    let isValid = true;
    for (const key of keysOf(value, validation)) {
      if (isSkipped(key, validation, evaluated)) continue;
      evaluated?.add(key);
      if (!node.check(value[key], { outer: place, step: key }, validation, undefined)) isValid = false;
    }
    return isValid;
  };
}

function additionalProperties({ argument, schema, path, inside, compiler }: KeywordUse): Check {
  const names = new Set(Object.keys(Object(schema["properties"]) as object));
  const patterns = Object.keys(Object(schema["patternProperties"]) as object).map((source) =>
    compiler.pattern(source, path),
  );
  return otherProperties(
    inside(argument, path),
    (key, { spend }) => names.has(key) || patterns.some((fits) => fits(key, spend)),
  );
}

function unevaluatedProperties({ argument, path, inside, node }: KeywordUse): Check {
  node.tracksEvaluated = true;
  return otherProperties(inside(argument, path), (key, _, evaluated) => evaluated?.has(key) ?? false);
}

export const objectKeywords = {
  required,
  minProperties: compared(
    countKeys,
    atLeast,
    (_, bound) => `Instance does not have at least ${bound} properties`,
  ),
  maxProperties: compared(
    countKeys,
    atMost,
    (_, bound) => `Instance does not have at most ${bound} properties`,
  ),
  propertyNames,
  dependentRequired,
  dependentSchemas,
  dependencies: dependentSchemas,
  properties,
  patternProperties,
  additionalProperties,
  unevaluatedProperties,
} satisfies Record<string, Keyword>;
