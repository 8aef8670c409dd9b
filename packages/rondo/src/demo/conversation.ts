// What the demo model reads of a conversation: the last question, what was called for it, and the text around it.

import { objectIn } from "../json/object-in.ts";
import type { Message } from "../model/message.ts";

/** A call that was made since the last question, with its result. */
export interface AnsweredCall {
  readonly name: string;
  readonly arguments: string;
  readonly result: string;
}

export interface Conversation {
  readonly prompt: string;
  /** The calls since the prompt, in order. */
  readonly answered: readonly AnsweredCall[];
  /** How many answers have had calls since the prompt. */
  readonly rounds: number;
  /** What was said before the prompt, by all but the model. */
  readonly texts: readonly string[];
  /** The model's last answer before the prompt. */
  readonly lastAnswer: string;
  /** The first number for the id of a call that no other call has. */
  readonly nextCall: number;
}

export function readConversation(messages: readonly Message[]): Conversation {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const before = messages.slice(0, Math.max(asked, 0));
  const since = messages.slice(asked + 1);
  const results = new Map<string, string>();
  for (const message of since)
    if (message.role === "tool") results.set(message.tool_call_id, message.content);

  const rounds = since.filter((message) => callsOf(message).length > 0);
  const answered = rounds
    .flatMap((message) => callsOf(message))
    .flatMap(({ id, function: { name, arguments: text } }) => {
      const result = results.get(id);
      return result === undefined ? [] : [{ name, arguments: text, result }];
    });
  const lastAnswer = before.findLast(({ role, content }) => role === "assistant" && textOf(content) !== "");
  return {
    prompt: textOf(messages[asked]?.content ?? ""),
    answered,
    rounds: rounds.length,
    texts: before.filter(({ role }) => role !== "assistant").map(({ content }) => textOf(content)),
    lastAnswer: textOf(lastAnswer?.content ?? ""),
    nextCall: nextCallIn(messages),
  };
}

const resultNames = ["result", "value", "answer", "sum", "total", "product"];

/** The number that a text is about: the last one in it, or the field of a JSON object that is called so. */
export function numberIn(text: string): number | undefined {
  const json = text.startsWith("{") ? objectIn(text) : undefined;
  const field = resultNames.map((name) => json?.[name]).find((value) => typeof value === "number");
  if (field !== undefined) return field;
  const found = text
    .slice(-2_000)
    .match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi)
    ?.at(-1);
  const value = Number(found ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

/** What a tool says that has failed; `undefined` if it has not. */
export function failureIn(result: string): string | undefined {
  const error = result.startsWith("{") ? objectIn(result)?.["error"] : undefined;
  return typeof error === "string" ? error : undefined;
}

function textOf(content: Message["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function callsOf(message: Message) {
  return message.role === "assistant" ? (message.tool_calls ?? []) : [];
}

function nextCallIn(messages: readonly Message[]): number {
  let last = 0;
  for (const { id } of messages.flatMap(callsOf))
    last = Math.max(last, Number(/^call_(\d{1,9})$/.exec(id)?.[1] ?? 0));
  return last + 1;
}
