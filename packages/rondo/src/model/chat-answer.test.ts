import fc from "fast-check";
import { expect, test } from "vitest";
import { ChatAnswer } from "./chat-answer.ts";
import { ChatStreamReader } from "./chat-stream-reader.ts";
import { commonProfile } from "./profiles.ts";
import type { ModelDelta } from "./provider.ts";

const delta = (content: string) => JSON.stringify({ choices: [{ index: 0, delta: { content } }] });

/** What comes out of an answer whose bytes come in the given pieces: deltas with joined text, and the error. */
function outcomeOf(pieces: readonly Uint8Array[]): unknown[] {
  const outcome: unknown[] = [];
  let text = "";
  const push = (next: ModelDelta) => {
    if (next.type === "text.delta") text += next.text;
    else outcome.push(next);
  };
  const reader = new ChatStreamReader({ profile: commonProfile, toolNames: [] });
  const answer = new ChatAnswer({ endpoint: "http://localhost/v1", reader, push });
  try {
    for (const piece of pieces) if (answer.read(piece)) break;
    answer.end();
  } catch (error) {
    // The start of what came, for the message, is as long as the first piece.
    outcome.push((error as { code: string }).code);
  }
  expect(answer.text).toBe(text);
  return [...outcome, text];
}

const frames = fc.array(
  fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 5 }).map((text) => `data: ${delta(text)}`),
    fc.constantFrom(
      "data: [DONE]",
      "data: {broken",
      ": ping",
      'data: {"error":{"message":"no"}}',
      "error: no",
      "event: error\ndata: no",
      "data: null",
      "data: 5",
      "<html>",
      "",
    ),
  ),
  { maxLength: 12 },
);
const whole = fc.constantFrom(
  '{"choices":[{"message":{"content":"héllo"},"finish_reason":"stop"}]}',
  '{"error":"no"}',
  '[{"a":1}]',
  "{",
  "<html>é",
);

test("any split of any bytes gives the same outcome", () => {
  const body = fc.oneof(
    {
      arbitrary: fc.tuple(frames, fc.constantFrom("\n\n", "\r\n\r\n")).map(([all, end]) => all.join(end)),
      weight: 4,
    },
    { arbitrary: whole, weight: 1 },
  );
  const start = fc.constantFrom("", "\u{feff}", "\n", " \r\n");
  fc.assert(
    fc.property(start, body, fc.array(fc.nat()), (start, body, cuts) => {
      const bytes = new TextEncoder().encode(start + body);
      const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
      const pieces = ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
      expect(outcomeOf(pieces)).toEqual(outcomeOf([bytes]));
    }),
    { numRuns: 2_000 },
  );
});

test("what is cut off twice, or after the end, gives nothing more", () => {
  const deltas: ModelDelta[] = [];
  const reader = new ChatStreamReader({ profile: commonProfile, toolNames: [] });
  const answer = new ChatAnswer({ endpoint: "", reader, push: (delta) => deltas.push(delta) });
  answer.read(new TextEncoder().encode(`data: ${delta("a <thi")}\n\n`));
  answer.cutOff();
  answer.cutOff();
  expect(deltas.map((delta) => "text" in delta && delta.text).join("")).toBe("a <thi");
});
