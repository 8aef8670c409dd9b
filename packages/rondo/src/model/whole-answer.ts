// Some servers and proxies do not stream whatever they are asked: the answer comes as one piece of JSON.

import { isPlainObject } from "../error/check.ts";

/** Turns a whole chat completion into the one chunk that a stream would have needed; nothing if it is none. */
export function asChunk(answer: unknown): Record<string, unknown> | undefined {
  if (!isPlainObject(answer) || !Array.isArray(answer["choices"])) return undefined;
  return { ...answer, choices: answer["choices"].map(asDeltaChoice) };
}

function asDeltaChoice(choice: unknown): unknown {
  if (!isPlainObject(choice) || !isPlainObject(choice["message"])) return choice;
  const { message, ...rest } = choice;
  const calls: unknown = message["tool_calls"];
  if (!Array.isArray(calls)) return { ...rest, delta: message };
  // Only in a stream do calls have an index.
  const indexed = calls.map((call: unknown, index) => (isPlainObject(call) ? { index, ...call } : call));
  return { ...rest, delta: { ...message, tool_calls: indexed } };
}
