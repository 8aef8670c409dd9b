// Fixed arguments: values that a tool always receives, and that no model can see or change.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { checkPlainObject, isPlainObject } from "../error/check.ts";
import { warn } from "../error/logger.ts";
import { setOwn } from "../json/copy.ts";
import { takesOtherKeys } from "./input-schema.ts";
import { type JsonSchema, resolvePointer } from "./json-schema.ts";

/** Checks that the input has a parameter for each fixed argument. */
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
    // The alternatives of a union name the parameters too.
    for (const keyword of ["anyOf", "oneOf", "allOf"]) {
      const parts = part[keyword];
      if (Array.isArray(parts))
        shown[keyword] = parts.map((each) => (isPlainObject(each) ? hide(each) : each));
    }
    return shown;
  };
  return hide(inlined(schema));
}

/** A schema that is only a reference, replaced by its target: others may refer to the definition too. */
function inlined(schema: JsonSchema): JsonSchema {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== "string" || !$ref.startsWith("#/")) return schema;
  const target = resolvePointer(schema, $ref);
  return isPlainObject(target) ? inlined({ ...target, ...rest }) : schema;
}

/** Merges an input and the fixed arguments. Code may override a fixed one; a model's value is dropped. */
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
      if (input[key] === undefined) continue; // the same as leaving it out
      warn(`The fixed argument '${key}' of the tool '${toolName}' is overridden by this call.`);
    }
    setOwn(merged, key, input[key]);
  }
  return merged;
}
