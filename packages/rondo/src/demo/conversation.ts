// What the demo model reads of a conversation: the last prompt, the calls made for it, and the answer before it.

import { objectIn } from "../json/object-in.ts";
import { sortedJson } from "../json/sorted-json.ts";
import type { Message } from "../model/message.ts";

/** A call made since the last prompt, with its result. */
export interface AnsweredCall {
  readonly name: string;
  /** Its arguments as `sortedJson` writes them: servers may change the order of keys. */
  readonly arguments: string;
  readonly result: string;
}

export interface DemoConversation {
  readonly prompt: string;
  readonly answered: readonly AnsweredCall[];
  /** How many answers had calls since the prompt. */
  readonly rounds: number;
  /** The model's last answer before the prompt. */
  readonly lastAnswer: string;
  /** The first number for a call id that is not taken. */
  readonly nextCall: number;
}

export function readConversation(messages: readonly Message[]): DemoConversation {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const since = messages.slice(asked + 1);
  const results = since.filter((message) => message.role === "tool");
  const answers = messages.slice(0, Math.max(asked, 0)).filter(({ role }) => role === "assistant");
  const ids = messages.flatMap(callsOf).map(({ id }) => Number(/^call_(\d{1,9})$/.exec(id)?.[1] ?? 0));
  return {
    prompt: textOf(messages[asked]),
    answered: since
      .flatMap(callsOf)
      .flatMap(({ id, function: { name, arguments: text } }) =>
        results
          .filter((message) => message.tool_call_id === id)
          .map(({ content }) => ({ name, arguments: sortedJson(objectIn(text)), result: content })),
      ),
    rounds: since.filter((message) => callsOf(message).length > 0).length,
    lastAnswer: answers.map(textOf).findLast((text) => text !== "") ?? "",
    nextCall: ids.reduce((most, id) => Math.max(most, id), 0) + 1,
  };
}

/** The number that a text is about: the last one, or the first of a JSON object. */
export function numberIn(text: string): number | undefined {
  const isObject = text.startsWith("{");
  const part = isObject ? text.slice(0, 2_000) : text.slice(-2_000);
  const numbers = part.match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi) ?? [];
  const value = Number(numbers.at(isObject ? 0 : -1) ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

function textOf(message: Message | undefined): string {
  const { content = "" } = message ?? {};
  if (typeof content === "string") return content;
  return (content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

function callsOf(message: Message) {
  return message.role === "assistant" ? (message.tool_calls ?? []) : [];
}
