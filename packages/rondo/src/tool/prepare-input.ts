// From what the caller gave to what the function gets: fixed arguments added, lazy values resolved, all validated.

import { hasLazy, resolveLazy } from "../async/lazy.ts";
import { InvalidInputError } from "../error/input-error.ts";
import { copyData } from "../json/copy.ts";
import { mergeFixed } from "./fixed.ts";
import type { InputResult } from "./object-schema.ts";
import type { AnyTool } from "./tool.ts";

export interface GivenCall {
  readonly tool: AnyTool;
  readonly input: Readonly<Record<string, unknown>>;
  readonly source: "code" | "model";
}

/**
 * Gives the input, or a promise of it where it has lazy values or an asynchronous schema. Throws an
 * `InvalidInputError` when it does not fit the tool's schema.
 */
export function prepareInput({
  tool,
  input,
  source,
}: GivenCall): Record<string, unknown> | Promise<Record<string, unknown>> {
  const merged = mergeFixed(tool.name, tool.fixed, input, source);
  return hasLazy(merged) ? resolveLazy(merged).then((values) => parse(tool, values)) : parse(tool, merged);
}

function parse(
  tool: AnyTool,
  values: Record<string, unknown>,
): Record<string, unknown> | Promise<Record<string, unknown>> {
  // The function owns what it gets: it may change it without changing the turn.
  const result = tool.parseInput(copyData(values));
  return result instanceof Promise ? result.then((it) => valid(tool, it)) : valid(tool, result);
}

function valid(tool: AnyTool, result: InputResult): Record<string, unknown> {
  if ("issues" in result) throw new InvalidInputError(tool.name, result.issues);
  return result.value;
}
