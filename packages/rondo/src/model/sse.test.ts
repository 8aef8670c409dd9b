import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SseReader } from "./sse.ts";

type Event = [data: string, event?: string];

function read(pieces: readonly (string | Uint8Array)[]): Event[] {
  const events: Event[] = [];
  const reader = new SseReader((data, event) => events.push(event === undefined ? [data] : [data, event]));
  for (const piece of pieces)
    reader.read(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
  reader.end();
  return events;
}

describe("a payload", () => {
  test.each<[name: string, text: string, events: Event[]]>([
    ["one line", 'data: {"a":1}\n\n', [['{"a":1}']]],
    ["without a space", "data:x\n\n", [["x"]]],
    ["with more than one space", "data:  x\n\n", [[" x"]]],
    ["CRLF", "data: x\r\n\r\ndata: y\r\n\r\n", [["x"], ["y"]]],
    ["CR", "data: x\r\rdata: y\r\r", [["x"], ["y"]]],
    ["several lines", "data: {\ndata: }\n\n", [["{\n}"]]],
    ["a byte order mark", "\u{feff}data: x\n\n", [["x"]]],
    ["comments and other fields", ": ping\n\nid: 7\nretry: 5\nx: y\ndata: x\n\n", [["x"]]],
    ["a named event", "event: ping\ndata: x\n\n", [["x", "ping"]]],
    ["no blank line at the end", "data: x\n\ndata: y\n", [["x"], ["y"]]],
    ["no line end at all", "data: x", [["x"]]],
    ["an error as llama.cpp writes it", 'error: {"message":"m"}\n\n', [['{"message":"m"}', "error"]]],
    ["such an error after others", "data: x\n\nerror:e\r\n\r\n", [["x"], ["e", "error"]]],
    ["the word in the data", 'data: {"error: ":"error:"}\n\n', [['{"error: ":"error:"}']]],
    ["a field that only begins alike", "err: x\nerrors: y\ndata: z\n\n", [["z"]]],
    ["nothing", "", []],
    ["only comments", ": a\n: b\n\n", []],
  ])("%s", (_, text, events) => {
    expect(read([text])).toEqual(events);
    expect(read(Array.from(text))).toEqual(events);
  });

  test("with a character whose bytes come in two pieces", () => {
    const bytes = new TextEncoder().encode("data: 日本 👩‍💻\n\n");
    for (let at = 0; at <= bytes.length; at += 1)
      expect(read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual([["日本 👩‍💻"]]);
  });
});

test("any split of any bytes gives the same payloads", () => {
  const marks = [
    "data: ",
    "data:",
    "data",
    "event: e",
    "error: ",
    "err",
    "error",
    ": c",
    "id: 1",
    "x: y",
    " ",
  ];
  const breaks = ["\n", "\r", "\r\n", "\n\n", "\r\n\r\n"];
  const part = fc.oneof(
    fc.constantFrom(...marks, ...breaks, '{"a":"é日👩‍💻"}', "[DONE]", "\u{feff}"),
    fc.string({ unit: "binary", maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.array(fc.nat()), (parts, cuts) => {
      const bytes = new TextEncoder().encode(parts.join(""));
      const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
      const pieces = ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
      expect(read(pieces)).toEqual(read([bytes]));
    }),
    { numRuns: 2_000 },
  );
});

test("read() throws what the callback throws", () => {
  const reader = new SseReader(() => {
    throw new Error("no");
  });
  expect(() => reader.read(new TextEncoder().encode("data: x\n\n"))).toThrow("no");
});
