// Faults of the connection and the stream, and callers that leave.

import { chunk, frames, type QuirkCase, says } from "../quirk-case.ts";

const chunks = [chunk({ role: "assistant", content: "Hel" }), chunk({ content: "lo" }), chunk({}, "stop")];
const hello = frames(...chunks);
const bytes = (text: string) => new TextEncoder().encode(text);

export const streamErrors: readonly QuirkCase[] = [
  {
    name: "an error object in mid-stream",
    answers: [{ chunks: [chunk({ content: "Hel" }), { error: { message: "out of memory", code: 500 } }] }],
    expect: { text: "Hel", error: { code: "model_stream_error", says: "out of memory" } },
  },
  {
    name: "a dropped socket",
    answers: [{ chunks: [chunk({ content: "Hel" }), chunk({ content: "lo" })], drop: 2 }],
    expect: { text: "Hel", error: { code: "model_stream_broken", says: "http://" } },
  },
  {
    name: "one broken frame",
    answers: [{ raw: [hello[0] ?? "", 'data: {"choices": [{"del\n\n', ...hello.slice(1)] }],
    expect: { text: "Hello" },
  },
  {
    name: "silence",
    answers: [{ chunks: [chunk({ content: "Hel" })], stall: true }],
    idleTimeoutMs: 100,
    expect: { text: "Hel", error: { code: "model_idle_timeout", says: "http://" } },
  },
  {
    name: "an HTML page with status 200",
    answers: [{ body: "<!doctype html><title>Sign in</title>" }],
    expect: { error: { code: "model_unexpected_answer", says: "web page" } },
  },
  {
    name: "an empty answer",
    answers: [{ raw: [] }],
    expect: { error: { code: "model_empty_answer", says: "http://" } },
  },
  { name: "gzip", answers: [{ chunks, gzip: true }], expect: { text: "Hello" } },
  {
    name: "CRLF",
    answers: [{ raw: hello.map((frame) => frame.replaceAll("\n", "\r\n")) }],
    expect: { text: "Hello" },
  },
  {
    name: "data: without a space",
    answers: [{ raw: hello.map((frame) => frame.replace("data: ", "data:")) }],
    expect: { text: "Hello" },
  },
  {
    name: "data: over several lines",
    answers: [
      {
        raw: chunks.map((value) => `${JSON.stringify(value, undefined, 1).replaceAll(/^/gm, "data: ")}\n\n`),
      },
    ],
    expect: { text: "Hello" },
  },
  {
    name: "a byte order mark",
    answers: [{ raw: [new Uint8Array([0xef, 0xbb, 0xbf]), ...hello] }],
    expect: { text: "Hello" },
  },
  {
    name: "comments and other fields",
    answers: [{ raw: [": ping\n\n", "id: 1\nevent: message\n", ...hello] }],
    expect: { text: "Hello" },
  },
  {
    name: "no blank line at the end",
    answers: [{ raw: [...hello.slice(0, 2), `data: ${JSON.stringify(chunk({}, "stop"))}`] }],
    expect: { text: "Hello" },
  },
  {
    name: "characters of several bytes split over packets",
    answers: [{ ...says("Grüße 👋", " 你好"), splitBytes: 1 }],
    expect: { text: "Grüße 👋 你好" },
  },
  { name: "all in one packet", answers: [{ raw: [bytes(hello.join(""))] }], expect: { text: "Hello" } },
];

const fine = says("Hello");

export const beforeStream: readonly QuirkCase[] = [
  {
    name: "429 with Retry-After",
    answers: [{ status: 429, headers: { "retry-after": "0" } }, fine],
    expect: { text: "Hello" },
  },
  { name: "500 once", answers: [{ status: 500 }, fine], expect: { text: "Hello" } },
  {
    name: "503 while the model loads",
    answers: [{ status: 503, body: { error: { message: "Loading model", code: 503 } } }, fine],
    expect: { text: "Hello" },
  },
  {
    name: "the socket closed before any answer",
    answers: [{ hangUp: true }, fine],
    expect: { text: "Hello" },
  },
  {
    name: "connection refused",
    answers: [],
    isUnreachable: true,
    expect: { error: { code: "model_unreachable", says: "baseURL" } },
  },
  {
    name: "404 for the model",
    answers: [{ status: 404, body: { error: { message: "model 'test-model' not found" } } }],
    expect: { error: { code: "model_not_found", says: "test-model" } },
  },
  {
    name: "400, which is not transient",
    answers: [{ status: 400, body: { error: { message: "too many tools" } } }],
    expect: { error: { code: "model_request", says: "too many tools" } },
  },
  { name: "401", answers: [{ status: 401 }], expect: { error: { code: "model_auth", says: "apiKey" } } },
];

export const slow: readonly QuirkCase[] = [
  {
    name: "a long time before the first token",
    answers: [{ ...fine, delayMs: 300 }],
    expect: { text: "Hello" },
  },
  {
    name: "longer than the limit that the user set",
    // As often as a client may retry.
    answers: Array.from({ length: 3 }, () => ({ ...fine, delayMs: 60_000 })),
    idleTimeoutMs: 100,
    expect: { error: { code: "model_idle_timeout", says: "100" } },
  },
];

const endless = { chunks: [chunk({ content: "Hel" })], stall: true } as const;

export const leaving: readonly QuirkCase[] = [
  { name: "break", answers: [endless], leave: "break", expect: { text: "Hel" } },
  { name: "an error thrown in the loop", answers: [endless], leave: "throw", expect: { text: "Hel" } },
  { name: "interrupt", answers: [endless], leave: "interrupt", expect: { text: "Hel" } },
  {
    name: "the time limit of the request",
    answers: [endless],
    timeoutMs: 100,
    expect: { text: "Hel", error: { code: "model_timeout", says: "100" } },
  },
];
