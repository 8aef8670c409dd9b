// Checks the settings of a model.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { checkLimit, checkOptions, checkPlainObject } from "../error/check.ts";
import type { ModelSettings } from "./provider.ts";

const known = ["temperature", "maxTokens", "topP", "seed", "stop", "extraBody"];

/** Throws for settings that no server accepts. `undefined` stands for the server's default. */
export function checkSettings(field: string, settings: ModelSettings): void {
  checkOptions(field, settings, known);
  const { temperature, maxTokens, topP, seed, stop, extraBody } = settings;
  if (temperature !== undefined) checkRange(`${field}.temperature`, temperature, 2);
  if (maxTokens !== undefined) checkLimit(`${field}.maxTokens`, maxTokens);
  if (topP !== undefined) checkRange(`${field}.topP`, topP, 1);
  if (seed !== undefined && !Number.isInteger(seed))
    throw new InvalidTypeError({ field: `${field}.seed`, expected: "a whole number", received: seed });
  if (stop !== undefined && !(Array.isArray(stop) && stop.every((text) => typeof text === "string")))
    throw new InvalidTypeError({ field: `${field}.stop`, expected: "a list of strings", received: stop });
  if (extraBody !== undefined) checkPlainObject(`${field}.extraBody`, extraBody);
}

function checkRange(field: string, value: unknown, max: number): void {
  const expected = `a number from 0 to ${max}`;
  if (typeof value !== "number") throw new InvalidTypeError({ field, expected, received: value });
  if (!(value >= 0 && value <= max)) throw new InvalidArgumentError({ field, expected, received: value });
}
