// Answers of the test model server: content or any bytes, with faults on demand.

import {
  type ChatContent,
  type ChunkOptions,
  chatChunks,
  chatCompletion,
  doneFrame,
  gatesOf,
  sseFrame,
} from "./chat-chunks.ts";
import { compress, cut, type Piece } from "./pieces.ts";
import { isPromise } from "./scripted-answer.ts";

/**
 * One answer of a model server. It sends `body`, else `raw`, else `chunks`, else the content of `thinking`,
 * `text` and `calls`. All but `body` are streamed. If the request does not ask for a stream, the content is sent as a
 * whole, and not at all if `drop` or `stall` is a number.
 */
export interface ServerAnswer extends ChatContent {
  /** Raw chunks, each sent as one server-sent event. A promise between them is awaited. */
  chunks?: readonly unknown[];
  /** Whether `data: [DONE]` ends the stream. Default: true, but not before a `stall`; never after `raw`. */
  done?: boolean;
  /** Raw bytes: broken frames, other line ends, garbage. A promise between them is awaited. */
  raw?: readonly (string | Uint8Array | PromiseLike<unknown>)[];
  /** A reply that is not a stream: text, or a value that is sent as JSON. */
  body?: unknown;

  /** Default: 200. From 400 on, the default `body` is an error in the format of OpenAI. */
  status?: number;
  /** Added to the default headers, or replacing them. */
  headers?: Readonly<Record<string, string>>;

  /** Delay before the headers. Default: 0. */
  delayMs?: number;
  /** Awaited before the headers. */
  waitFor?: PromiseLike<unknown>;
  /** Delay before each chunk. Default: 0. */
  chunkDelayMs?: number;

  /** Closes the socket without an answer. */
  hangUp?: boolean;
  /** Closes the socket after this many chunks; 0: right after the headers. */
  drop?: number;
  /** Stops sending after this many chunks, until the client disconnects; 0: right after the headers, `true`: after all. */
  stall?: number | true;
  /** Splits the bytes of the stream into pieces of this size. */
  splitBytes?: number;
  /** Compresses the answer. */
  gzip?: boolean;
}

/** The known fields of an answer, to detect misspelt ones. */
export const serverAnswerFields: readonly (keyof ServerAnswer)[] = [
  "thinking",
  "text",
  "calls",
  "finishReason",
  "usage",
  "chunks",
  "done",
  "raw",
  "body",
  "status",
  "headers",
  "delayMs",
  "waitFor",
  "chunkDelayMs",
  "hangUp",
  "drop",
  "stall",
  "splitBytes",
  "gzip",
];

/** Status, headers and body of an answer, and how it ends. */
export interface PreparedAnswer {
  status: number;
  headers: Record<string, string>;
  pieces: Piece[];
  end: "whole" | "drop" | "stall";
}

export interface AnswerOptions extends ChunkOptions {
  /** Whether the client does not want a stream. Default: false. */
  isWhole?: boolean;
}

export async function prepareAnswer(answer: ServerAnswer, options: AnswerOptions): Promise<PreparedAnswer> {
  const { status = 200, gzip = false, splitBytes } = answer;
  const isWhole = options.isWhole === true && !answer.raw && !answer.chunks;
  const body =
    answer.body ??
    (status >= 400 ? errorBody(status) : isWhole ? chatCompletion(answer, options) : undefined);
  const cutAfter = answer.drop ?? answer.stall;
  const end = answer.drop !== undefined ? "drop" : answer.stall !== undefined ? "stall" : "whole";
  let frames: readonly Frame[];
  if (body === undefined) frames = firstChunks(framesOf(answer, options), cutAfter);
  else if (!isWhole) frames = firstChunks([asText(body)], cutAfter);
  else frames = [...gatesOf(answer), ...(typeof cutAfter === "number" ? [] : [asText(body)])];
  let pieces = frames.map(asPiece);
  if (gzip) pieces = await compress(pieces, end === "whole");
  if (splitBytes !== undefined) pieces = [...cut(pieces, splitBytes)];
  const headers = {
    "content-type": contentTypeOf(body),
    ...(gzip && { "content-encoding": "gzip" }),
    ...lowerCase(answer.headers),
  };
  return { status, headers, pieces, end };
}

type Frame = string | Piece;

function framesOf(answer: ServerAnswer, options: ChunkOptions): Frame[] {
  if (answer.raw) return [...answer.raw];
  const chunks = answer.chunks ?? chatChunks(answer, options);
  const frames = chunks.map((chunk) => (isGate(chunk) ? chunk : sseFrame(chunk)));
  const isDone = answer.done ?? answer.stall === undefined;
  return isDone ? [...frames, doneFrame] : frames;
}

/** The frames up to and including chunk number `count`; promises do not count. */
function firstChunks(frames: readonly Frame[], count: number | true = true): readonly Frame[] {
  if (count === true) return frames;
  let seen = 0;
  const end = frames.findIndex((frame) => !isGate(frame) && ++seen > count);
  return end < 0 ? frames : frames.slice(0, end);
}

function isGate(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && isPromise(value);
}

function asPiece(frame: Frame): Piece {
  return typeof frame === "string" ? Buffer.from(frame) : frame;
}

function asText(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

function contentTypeOf(body: unknown): string {
  if (body === undefined) return "text/event-stream; charset=utf-8";
  return typeof body === "string" ? "text/html; charset=utf-8" : "application/json";
}

function lowerCase(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function errorBody(status: number): unknown {
  return {
    error: { message: `The test server answers with status ${status}.`, type: "test_error", code: null },
  };
}
