// The outcome of a case, as seen by the user and the server, and its difference from the expectation.

import { isDeepStrictEqual } from "node:util";
import type { Usage } from "rondo";
import type { Expectation } from "./quirk-case.ts";

export interface Outcome {
  /** The text that the user saw, without the last "Done.". */
  readonly text: string;
  /** Undefined if the client does not expose it. */
  readonly thinking?: string | undefined;
  /** The calls that ran, in order. */
  readonly ran: readonly (readonly [name: string, input: unknown])[];
  /** Of the first answer; null if unknown. Undefined if the client does not expose it. */
  readonly usage?: Usage | null | undefined;
  readonly error?: { readonly code?: string | undefined; readonly message: string } | undefined;
  /** Another client: errors may have any wording. */
  readonly isOther?: boolean;
  /** It did not finish by itself. */
  readonly isStuck?: boolean;
}

/** A message sent to the server. */
interface SentMessage {
  role?: string;
  tool_calls?: { id?: unknown; function?: { name?: unknown; arguments?: unknown } }[];
  tool_call_id?: unknown;
  content?: unknown;
}

/** The differences between outcome and expectation; empty if there are none. */
export function problems(outcome: Outcome, expected: Expectation, lastSent: unknown): string[] {
  const found: string[] = [];
  const compare = (what: string, is: unknown, shouldBe: unknown) => {
    if (!isDeepStrictEqual(is, shouldBe))
      found.push(`${what}: expected ${JSON.stringify(shouldBe)}, got ${JSON.stringify(is)}`);
  };
  compare("text", outcome.text, expected.text ?? "");
  if (outcome.thinking !== undefined) compare("thinking", outcome.thinking, expected.thinking ?? "");
  compare("calls that ran", outcome.ran, expected.ran ?? []);
  if (expected.usage !== undefined && outcome.usage !== undefined)
    compare("usage", outcome.usage, expected.usage);
  const { error } = outcome;
  if (expected.error === undefined) {
    if (error) found.push(`an error: ${error.message}`);
  } else if (!error) found.push("no error");
  else if (error.code !== undefined) {
    compare("code", error.code, expected.error.code);
    if (!error.message.includes(expected.error.says))
      found.push(`the error does not say "${expected.error.says}": ${error.message}`);
  }
  const messages = Array.isArray(lastSent) ? (lastSent as SentMessage[]) : [];
  if (outcome.isStuck) found.push("it did not finish");
  return [...found, ...historyProblems(messages), ...toldProblems(messages, expected, outcome.isOther)];
}

/** Every call has a unique id, JSON arguments, and one result. */
function historyProblems(messages: readonly SentMessage[]): string[] {
  const found: string[] = [];
  const calls = messages.flatMap(({ tool_calls }) => tool_calls ?? []);
  const ids = calls.map(({ id }) => id);
  if (ids.some((id) => typeof id !== "string" || id.trim() === ""))
    found.push("history: a call without an id");
  if (new Set(ids).size < ids.length) found.push("history: two calls with the same id");
  for (const { function: { arguments: text } = {} } of calls)
    if (!isObjectText(text)) found.push(`history: arguments ${JSON.stringify(text)}`);
  const answered = messages.filter(({ role }) => role === "tool").map(({ tool_call_id }) => tool_call_id);
  if (answered.length !== ids.length || !isDeepStrictEqual(new Set(answered), new Set(ids)))
    found.push("history: calls and answers do not match");
  return found;
}

function isObjectText(text: unknown): boolean {
  try {
    const value: unknown = JSON.parse(String(text));
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** The model received an error for each call that did not run. The tools' own results are numbers and "pong". */
function toldProblems(
  messages: readonly SentMessage[],
  { told = [] }: Expectation,
  isOther = false,
): string[] {
  const errors = messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)))
    .filter((content) => !/^\W*(\d+|pong)\W*$/.test(content));
  if (errors.length !== told.length)
    return [
      `the model received ${errors.length} errors instead of ${told.length}: ${JSON.stringify(errors)}`,
    ];
  if (isOther) return [];
  return told.flatMap((words, i) =>
    errors[i]?.replaceAll('\\"', '"').includes(words)
      ? []
      : [`the model did not receive "${words}": ${errors[i]}`],
  );
}
