// Requests of real clients as they stand on the wire, each with a tool loop: what the model answers, what the
// client must see of it, and what it sends back.

import { globSync, readFileSync } from "node:fs";
import type { Message } from "rondo";
import type { ScriptedAnswer } from "rondo/testing";
import type { Wire } from "./socket-client.ts";

export interface RecordedTurn {
  readonly answer: ScriptedAnswer;
  /** What the output must have, item by item. */
  readonly output: readonly object[];
  /** The results of its calls, in their order. */
  readonly results?: readonly object[];
}

export interface Recorded {
  readonly name: string;
  readonly about: string;
  /** The first request. */
  readonly body: Readonly<Record<string, unknown>> & { readonly input: string | readonly object[] };
  readonly turns: readonly RecordedTurn[];
  /** What the model is offered. */
  readonly toolNames: readonly string[];
  /** What the model has read at the end, in short. */
  readonly history: readonly string[];
}

const folder = new URL("recorded/", import.meta.url);

export const recorded: readonly Recorded[] = globSync("*.json", { cwd: folder })
  .toSorted()
  .map((file) => {
    const text = readFileSync(new URL(file, folder), "utf8");
    return { name: file.replace(".json", ""), ...(JSON.parse(text) as Omit<Recorded, "name">) };
  });

/** The calls of an output, answered by the results of a turn. */
export function resultsFor(output: readonly Wire[], { results = [] }: RecordedTurn): object[] {
  const calls = output.filter(({ call_id }) => call_id !== undefined);
  if (calls.length !== results.length)
    throw new Error(`${calls.length} calls came, but there are ${results.length} results.`);
  return results.map((result, index) => ({ call_id: calls[index].call_id, ...result }));
}

/** An output as a client that keeps the conversation itself sends it back: without ids, and thoughts only sealed. */
export function asSentBack(output: readonly Wire[]): object[] {
  return output.map(({ id: _id, status: _status, ...item }) =>
    item.type === "reasoning" && item.encrypted_content !== undefined ? { ...item, content: null } : item,
  );
}

/** Messages in short: who has said it, and which tools were called or have answered. */
export function inShort(messages: readonly Message[] | undefined): string[] {
  return (messages ?? []).map((message) => {
    if (message.role === "tool") return `tool ${message.name}`;
    const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
    return [message.role, ...calls.map((call) => call.function.name)].join(" ");
  });
}
