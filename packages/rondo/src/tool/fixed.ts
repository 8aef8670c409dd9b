// Fixed arguments: values that a tool always gets, which no model can see or change.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { checkPlainObject, isPlainObject } from "../error/check.ts";
import { warn } from "../error/logger.ts";
import { setOwn } from "../json/copy.ts";
import type { JsonSchema } from "./json-schema.ts";
import { takesOtherKeys } from "./object-schema.ts";

/** Checks at definition that the input has a place for each fixed argument. */
export function checkFixed(fixed: unknown, schema: JsonSchema): Readonly<Record<string, unknown>> {
  if (fixed === undefined) return {};
  const values = checkPlainObject("fixed", fixed);
  for (const key of Object.keys(values)) {
    if (takesOtherKeys(schema) || Object.hasOwn(schema.properties ?? {}, key)) continue;
    const names = Object.keys(schema.properties ?? {});
    throw new InvalidTypeError({
      field: `fixed.${key}`,
      expected:
        names.length === 0
          ? "no key, for the tool takes no input"
          : `one of the tool's parameters ${names.join(", ")}`,
      received: values[key],
      hint: "Add it to the tool's input, or leave it out.",
    });
  }
  return Object.freeze({ ...values });
}

/** The schema as callers see it: without the fixed arguments. */
export function hideFixed(schema: JsonSchema, fixed: Readonly<Record<string, unknown>>): JsonSchema {
  if (Object.keys(fixed).length === 0) return schema;
  const isShown = (key: string) => !Object.hasOwn(fixed, key);
  const hide = (part: JsonSchema): JsonSchema => {
    const shown: Record<string, unknown> = { ...part };
    if (part.properties)
      shown["properties"] = Object.fromEntries(
        Object.entries(part.properties).filter(([key]) => isShown(key)),
      );
    if (part.required) shown["required"] = part.required.filter(isShown);
    // Alternatives of one object, such as those of a union, name its parameters too.
    for (const keyword of ["anyOf", "oneOf", "allOf"]) {
      const parts = part[keyword];
      if (Array.isArray(parts))
        shown[keyword] = parts.map((each) => (isPlainObject(each) ? hide(each) : each));
    }
    return shown;
  };
  return hide(inlined(schema));
}

/** A schema that is only a reference, with what it refers to in its place: the definition may serve others too. */
function inlined(schema: JsonSchema): JsonSchema {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== "string" || !$ref.startsWith("#/")) return schema;
  const target = $ref
    .slice(2)
    .split("/")
    .reduce<unknown>((part, step) => (isPlainObject(part) ? part[step] : undefined), schema);
  return isPlainObject(target) ? inlined({ ...target, ...rest }) : schema;
}

/** Puts an input and the fixed arguments together. Code may override a fixed one; a model's value is dropped. */
export function mergeFixed(
  toolName: string,
  fixed: Readonly<Record<string, unknown>>,
  input: Readonly<Record<string, unknown>>,
  source: "code" | "model",
): Record<string, unknown> {
  if (source === "model") return { ...input, ...fixed };
  const merged: Record<string, unknown> = { ...fixed };
  for (const key of Object.keys(input)) {
    if (Object.hasOwn(fixed, key)) {
      if (input[key] === undefined) continue; // means the same as leaving it out
      warn(`The fixed argument '${key}' of the tool '${toolName}' is overridden by this call.`);
    }
    setOwn(merged, key, input[key]);
  }
  return merged;
}
