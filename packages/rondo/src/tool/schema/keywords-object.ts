// Keywords about objects. A property that is undefined is absent, as in JSON.

import type { Given, Keyword } from "./keywords.ts";
import { inTrial } from "./keywords-logic.ts";
import type { Check } from "./schema-compiler.ts";
import type { Place, Validation } from "./validation.ts";
import { namesAt, numberAt, schemasByName, shortJson } from "./wrong.ts";

type Properties = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function has(value: Properties, key: string): boolean {
  return Object.hasOwn(value, key) && value[key] !== undefined;
}

function keysOf(value: Properties, validation: Validation): string[] {
  const keys = Object.keys(value);
  validation.spend(keys.length);
  return keys.filter((key) => value[key] !== undefined);
}

/** What a schema asks for, in a few words: `number`, `one of "a", "b"`, `string or null`. */
function expectation(given: unknown): string {
  const schema = Object(given) as { const?: unknown; enum?: unknown; type?: unknown };
  if (schema.const !== undefined) return shortJson(schema.const);
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.slice(0, 20).map(shortJson).join(", ")}`;
  if (typeof schema.type === "string") return schema.type;
  return Array.isArray(schema.type) ? schema.type.join(" or ") : "a value";
}

function required({ argument, schema, path }: Given): Check {
  const names = namesAt(argument, path);
  const properties = (schema["properties"] ?? {}) as Properties;
  return (value, place, validation) => {
    if (!isObject(value)) return true;
    validation.spend(names.length);
    let isFine = true;
    for (const name of names)
      if (!has(value, name)) {
        const known = !place && Object.hasOwn(properties, name) ? properties[name] : undefined;
        isFine = validation.fail(
          { outer: place, step: name },
          () => `expected ${expectation(known)}, got nothing`,
        );
      }
    return isFine;
  };
}

function count(fits: (count: number, bound: number) => boolean, words: string): Keyword {
  return ({ argument, path }) => {
    const bound = numberAt(argument, path);
    if (bound === undefined) return undefined;
    return (value, place, validation) =>
      !isObject(value) ||
      fits(keysOf(value, validation).length, bound) ||
      validation.refuse(place, `Instance does not have ${words} ${bound} properties`, value);
  };
}

function propertyNames({ argument, path, inside }: Given): Check {
  const node = inside(argument, path);
  return (value, place, validation) => {
    if (!isObject(value)) return true;
    let isFine = true;
    for (const key of keysOf(value, validation))
      if (!node.check(key, { outer: place, step: key }, validation, undefined)) isFine = false;
    return isFine;
  };
}

/** Names that others need: `{ card: ["address"] }`. */
function needs(name: string, needed: readonly string[]): Check {
  return (value, place, validation) => {
    if (!isObject(value) || !has(value, name)) return true;
    validation.spend(needed.length);
    const missing = needed.find((other) => !has(value, other));
    return (
      missing === undefined ||
      validation.refuse(place, `Instance has "${name}" but does not have "${missing}"`, value)
    );
  };
}

function whereThere(name: string, check: Check): Check {
  return (value, place, validation, looked) =>
    !isObject(value) || !has(value, name) || check(value, place, validation, looked);
}

function all(checks: readonly Check[]): Check {
  return (value, place, validation, looked) => {
    if (!isObject(value)) return true;
    validation.spend(checks.length);
    let isFine = true;
    for (const check of checks) if (!check(value, place, validation, looked)) isFine = false;
    return isFine;
  };
}

function dependentRequired({ argument, path }: Given): Check {
  return all(
    schemasByName(argument, path).map(([name, names]) => needs(name, namesAt(names, `${path}.${name}`))),
  );
}

/** Also the older `dependencies`, which may be lists of names. */
function dependentSchemas({ argument, path, inPlace }: Given): Check {
  return all(
    schemasByName(argument, path).map(([name, part]) =>
      Array.isArray(part)
        ? needs(name, namesAt(part, `${path}.${name}`))
        : whereThere(name, inTrial(inPlace(part, `${path}.${name}`))),
    ),
  );
}

function properties({ argument, path, inside }: Given): Check {
  const nodes = schemasByName(argument, path).map(
    ([name, part]) => [name, inside(part, `${path}.${name}`)] as const,
  );
  return (value, place, validation, looked) => {
    if (!isObject(value)) return true;
    validation.spend(nodes.length);
    let isFine = true;
    for (const [name, node] of nodes) {
      if (!has(value, name)) continue;
      looked?.add(name);
      if (!node.check(value[name], { outer: place, step: name }, validation, undefined)) isFine = false;
    }
    return isFine;
  };
}

function patternProperties({ argument, path, inside, compiler }: Given): Check {
  const nodes = schemasByName(argument, path).map(
    ([source, part]) => [compiler.pattern(source, path), inside(part, `${path}.${source}`)] as const,
  );
  return (value, place, validation, looked) => {
    if (!isObject(value)) return true;
    let isFine = true;
    for (const key of keysOf(value, validation))
      for (const [fits, node] of nodes) {
        if (!fits(key, validation.spend)) continue;
        looked?.add(key);
        if (!node.check(value[key], { outer: place, step: key }, validation, undefined)) isFine = false;
      }
    return isFine;
  };
}

function additionalProperties({ argument, schema, path, inside, compiler }: Given): Check {
  const node = inside(argument, path);
  const names = new Set(Object.keys(Object(schema["properties"]) as object));
  const patterns = Object.keys(Object(schema["patternProperties"]) as object).map((source) =>
    compiler.pattern(source, path),
  );
  return (value, place, validation, looked) => {
    if (!isObject(value)) return true;
    let isFine = true;
    for (const key of keysOf(value, validation)) {
      if (names.has(key) || patterns.some((fits) => fits(key, validation.spend))) continue;
      looked?.add(key);
      if (!checkOther(node.check, value, key, place, validation)) isFine = false;
    }
    return isFine;
  };
}

function unevaluatedProperties({ argument, path, inside, node: self }: Given): Check {
  const node = inside(argument, path);
  self.tracks = true;
  return (value, place, validation, looked) => {
    if (!isObject(value)) return true;
    let isFine = true;
    for (const key of keysOf(value, validation)) {
      if (looked?.has(key)) continue;
      looked?.add(key);
      if (!checkOther(node.check, value, key, place, validation)) isFine = false;
    }
    return isFine;
  };
}

function checkOther(
  check: Check,
  value: Properties,
  key: string,
  outer: Place | undefined,
  validation: Validation,
): boolean {
  return check(value[key], { outer, step: key }, validation, undefined);
}

export const objectKeywords = {
  required,
  minProperties: count((keys, bound) => keys >= bound, "at least"),
  maxProperties: count((keys, bound) => keys <= bound, "at most"),
  propertyNames,
  dependentRequired,
  dependentSchemas,
  dependencies: dependentSchemas,
  properties,
  patternProperties,
  additionalProperties,
  unevaluatedProperties,
} satisfies Record<string, Keyword>;
