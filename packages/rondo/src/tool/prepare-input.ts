// From what the caller gave to what the function gets: fixed arguments added, lazy values resolved, all validated.

import { hasLazy, resolveLazy } from "../async/lazy.ts";
import { InvalidInputError } from "../error/input-error.ts";
import { copyData } from "../json/copy.ts";
import { mergeFixed } from "./fixed.ts";
import type { AnyTool } from "./tool.ts";

export interface GivenCall {
  readonly tool: AnyTool;
  readonly input: Readonly<Record<string, unknown>>;
  readonly source: "code" | "model";
}

/** Throws an `InvalidInputError` when the input does not fit the tool's schema. */
export async function prepareInput({ tool, input, source }: GivenCall): Promise<Record<string, unknown>> {
  const merged = mergeFixed(tool.name, tool.fixed, input, source);
  const values = hasLazy(merged) ? await resolveLazy(merged) : merged;
  // The function owns what it gets: it may change it without changing the turn.
  const result = await tool.parseInput(copyData(values));
  if ("issues" in result) throw new InvalidInputError(tool.name, result.issues);
  return result.value;
}
