// The chunks of a chat-completions stream as a well-behaved server sends them, and their frames on the wire.

import type { Usage } from "../model/provider.ts";
import type { ScriptedCall, ScriptedText } from "./scripted-answer.ts";

/** What a well-behaved server says, in the order thinking, text, calls. */
export interface ChatContent {
  /** Sent as `reasoning_content`. */
  thinking?: ScriptedText;
  /** In one piece or in several, each a chunk. A promise between them is waited for. */
  text?: ScriptedText;
  calls?: readonly Omit<ScriptedCall, "isTruncated">[];
  /** Default: `tool_calls` if there are calls, else `stop`. `null` for none. */
  finishReason?: string | null;
  /** Sent in a last chunk without choices. Default: none. */
  usage?: Usage;
}

/** Ends a stream of server-sent events in the way of OpenAI. */
export const doneFrame = "data: [DONE]\n\n";

/** One server-sent event with `value` as its JSON. */
export function sseFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export interface ChunkOptions {
  /** Default: `test-model`. */
  model?: string;
  /** Makes ids for calls that have none. Default: `call_1`, `call_2`, … */
  nextId?: () => string;
}

/** The chunks that stream `content`, to be sent as they are or changed first. */
export function chatChunks(content: ChatContent, options: ChunkOptions = {}): unknown[] {
  let callCount = 0;
  const { model = "test-model", nextId = () => `call_${++callCount}` } = options;
  const { thinking, text, calls = [], usage } = content;
  const { finishReason = calls.length > 0 ? "tool_calls" : "stop" } = content;
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [
    chunk({ role: "assistant", content: "" }),
    ...pieces(thinking).map((piece) => (isText(piece) ? chunk({ reasoning_content: piece }) : piece)),
    ...pieces(text).map((piece) => (isText(piece) ? chunk({ content: piece }) : piece)),
    ...calls.flatMap((call, index) =>
      callDeltas(call, index, call.id ?? nextId()).map((delta) => chunk({ tool_calls: [delta] })),
    ),
    ...(finishReason === null ? [] : [chunk({}, finishReason)]),
    ...(usage ? [{ ...head, choices: [], usage: onTheWire(usage) }] : []),
  ];
}

function pieces(text: ScriptedText = []): readonly (string | PromiseLike<unknown>)[] {
  return typeof text === "string" ? [text] : text;
}

function isText(piece: string | PromiseLike<unknown>): piece is string {
  return typeof piece === "string";
}

function callDeltas(call: Omit<ScriptedCall, "isTruncated">, index: number, id: string): object[] {
  const written = call.arguments ?? JSON.stringify(call.input ?? {});
  const texts = typeof written === "string" ? [written] : written;
  return [
    { index, id, type: "function", function: { name: call.name, arguments: "" } },
    ...texts.map((text) => ({ index, function: { arguments: text } })),
  ];
}

function onTheWire({ inputTokens, outputTokens, totalTokens }: Usage): object {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: totalTokens };
}
