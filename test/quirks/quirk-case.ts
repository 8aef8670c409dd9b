// A quirk of a model server as data: what the server sends, and the expected outcome.

import type { Usage } from "rondo";
import type { ModelProfile } from "rondo/models";
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
  /** The server's answers to the first requests. After these it answers "Done." */
  readonly answers: readonly ServerAnswer[];
  /** The user's override of the profile. Default: none. */
  readonly profile?: Partial<ModelProfile>;
  /** Nothing listens at the URL. */
  readonly isUnreachable?: boolean;
  /** The idle timeout. Default: the client's. */
  readonly idleTimeoutMs?: number;
  /** The timeout of the whole request. Default: none. */
  readonly timeoutMs?: number;
  /** How the caller leaves after the first text delta: then the socket must close. Default: not at all. */
  readonly leave?: "break" | "interrupt" | "throw";
  readonly expect: Expectation;
}

export interface Expectation {
  /** The text before "Done.". Default: none. */
  readonly text?: string;
  /** Default: none. */
  readonly thinking?: string;
  /** The calls that run, in order. Default: none. */
  readonly ran?: readonly (readonly [name: string, input: unknown])[];
  /** Words in each error result that the model receives, in order. Default: none. */
  readonly told?: readonly string[];
  /** Of the first answer. Default: not checked. `null` for unknown. */
  readonly usage?: Usage | null;
  /** The code of the error, and words in its message. Default: no error. */
  readonly error?: { readonly code: string; readonly says: string };
}

/** The call in most cases. */
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

/** An answer of text in chunks. */
export function says(...pieces: readonly unknown[]): ServerAnswer {
  return { chunks: [...pieces.map((content) => chunk({ content })), chunk({}, "stop")] };
}

/** An answer of tool calls; each list is the `tool_calls` of one chunk. */
export function calls(...lists: readonly (readonly unknown[])[]): ServerAnswer {
  return { chunks: [...lists.map((tool_calls) => chunk({ tool_calls })), chunk({}, "tool_calls")] };
}

/** A fragment of a call to `add`. */
export function add(args: unknown, identity: object = {}): unknown {
  return { type: "function", ...identity, function: { name: "add", arguments: args } };
}

/** A fragment of a call without its name. */
export function more(args: unknown, identity: object = {}): unknown {
  return { ...identity, function: { arguments: args } };
}

/** The frames of valid chunks, to be modified. */
export function frames(...chunks: readonly unknown[]): string[] {
  return [...chunks.map((value) => `data: ${JSON.stringify(value)}\n\n`), "data: [DONE]\n\n"];
}
