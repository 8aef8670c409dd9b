// What a quirk of a model server is, as data: what the server sends, and what has to come of it.

import type { ModelProfile, Usage } from "rondo";
import type { ServerAnswer } from "rondo/testing";

/** The classes of quirks, in the order of the table. */
export const quirkClasses = [
  "tool call identity",
  "ending",
  "arguments",
  "truncated arguments",
  "unknown or disallowed tool",
  "tool calls as text",
  "look-alikes of tool calls",
  "reasoning",
  "text",
  "usage",
  "stream errors",
  "before the stream",
  "slow models",
  "leaving",
] as const;

export type QuirkClass = (typeof quirkClasses)[number];

export interface QuirkCase {
  readonly name: string;
  /** What the server sends to the first requests. After these it says "Done." */
  readonly answers: readonly ServerAnswer[];
  /** What the user knows about the model, where its name does not tell. Default: nothing. */
  readonly profile?: Partial<ModelProfile>;
  /** Nobody listens at the URL. */
  readonly isUnreachable?: boolean;
  /** The limit of silence. Default: the client's. */
  readonly idleTimeoutMs?: number;
  /** The limit of the whole request. Default: none. */
  readonly timeoutMs?: number;
  /** How the caller leaves after the first piece of text: then the socket has to close. Default: not at all. */
  readonly leave?: "break" | "interrupt" | "throw";
  readonly expect: Expectation;
}

export interface Expectation {
  /** What the user sees before "Done.". Default: nothing. */
  readonly text?: string;
  /** Default: nothing. */
  readonly thinking?: string;
  /** The calls that run, in order. Default: none. */
  readonly ran?: readonly (readonly [name: string, input: unknown])[];
  /** Words in each of the error results that the model is told, in order. Default: there are none. */
  readonly told?: readonly string[];
  /** Of the first answer. Default: not looked at. `null` for unknown. */
  readonly usage?: Usage | null;
  /** The code of the error, and words in its message. Default: there is none. */
  readonly error?: { readonly code: string; readonly says: string };
}

/** The call that most cases are about. */
export const added = [["add", { a: 1, b: 2 }]] as const;
export const addArguments = '{"a": 1, "b": 2}';

export function chunk(delta: unknown, finishReason: string | null = null, more: object = {}): unknown {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "test-model",
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...more,
  };
}

/** An answer of text in pieces. */
export function says(...pieces: readonly unknown[]): ServerAnswer {
  return { chunks: [...pieces.map((content) => chunk({ content })), chunk({}, "stop")] };
}

/** An answer of tool calls; each list is the `tool_calls` of one chunk. */
export function calls(...lists: readonly (readonly unknown[])[]): ServerAnswer {
  return { chunks: [...lists.map((tool_calls) => chunk({ tool_calls })), chunk({}, "tool_calls")] };
}

/** A piece of a call to `add`. */
export function add(args: unknown, identity: object = {}): unknown {
  return { type: "function", ...identity, function: { name: "add", arguments: args } };
}

/** A piece of a call without its name. */
export function more(args: unknown, identity: object = {}): unknown {
  return { ...identity, function: { arguments: args } };
}

/** The frames of well-behaved chunks, to be spoilt. */
export function frames(...chunks: readonly unknown[]): string[] {
  return [...chunks.map((value) => `data: ${JSON.stringify(value)}\n\n`), "data: [DONE]\n\n"];
}
