// A chat completion as a well-behaved server sends it: as chunks of a stream, or as a whole.

import type { Usage } from "../model/provider.ts";
import type { ScriptedCall, ScriptedText } from "./scripted-answer.ts";

/** The content of an answer, sent in the order thinking, text, calls. */
export interface ChatContent {
  /** Sent as `reasoning_content`. */
  thinking?: ScriptedText;
  /** One piece or several, each a chunk. A promise between them is awaited. */
  text?: ScriptedText;
  calls?: readonly Omit<ScriptedCall, "isTruncated">[];
  /** Default: `tool_calls` if there are calls, else `stop`. `null` for none. */
  finishReason?: string | null;
  /** Sent in a last chunk without choices. Default: none. */
  usage?: Usage;
}

/** Ends a stream of server-sent events, as OpenAI does. */
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

/** The chunks that stream `content`, to be sent unchanged or edited first. */
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

/** The same content as one answer, for clients that do not stream. */
export function chatCompletion(content: ChatContent, options: ChunkOptions = {}): unknown {
  let callCount = 0;
  const { model = "test-model", nextId = () => `call_${++callCount}` } = options;
  const { thinking, text, calls = [], usage } = content;
  const { finishReason = calls.length > 0 ? "tool_calls" : "stop" } = content;
  const message = {
    role: "assistant",
    content: wholeText(text),
    ...(thinking !== undefined && { reasoning_content: wholeText(thinking) }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => ({
        id: call.id ?? nextId(),
        type: "function",
        function: { name: call.name, arguments: writtenArguments(call).join("") },
      })),
    }),
  };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: finishReason }],
    ...(usage && { usage: onTheWire(usage) }),
  };
}

/** The promises between the pieces of a content, in their order. */
export function gatesOf({ thinking, text }: ChatContent): PromiseLike<unknown>[] {
  return [...pieces(thinking), ...pieces(text)].filter((piece) => typeof piece !== "string");
}

function wholeText(text: ScriptedText | undefined): string {
  return pieces(text).filter(isText).join("");
}

function pieces(text: ScriptedText = []): readonly (string | PromiseLike<unknown>)[] {
  return typeof text === "string" ? [text] : text;
}

function isText(piece: string | PromiseLike<unknown>): piece is string {
  return typeof piece === "string";
}

function callDeltas(call: Omit<ScriptedCall, "isTruncated">, index: number, id: string): object[] {
  return [
    { index, id, type: "function", function: { name: call.name, arguments: "" } },
    ...writtenArguments(call).map((text) => ({ index, function: { arguments: text } })),
  ];
}

function writtenArguments(call: Omit<ScriptedCall, "isTruncated">): readonly string[] {
  const written = call.arguments ?? JSON.stringify(call.input ?? {});
  return typeof written === "string" ? [written] : written;
}

function onTheWire({ inputTokens, outputTokens, totalTokens, cachedTokens }: Usage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: totalTokens,
    ...(cachedTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
  };
}
