import fc from "fast-check";
import { expect, test } from "vitest";
import { type AnswerReader, ChatAnswer } from "./chat-answer.ts";
import { ChatStreamReader } from "./chat-stream-reader.ts";
import { commonProfile } from "./profiles.ts";
import type { ModelDelta } from "./provider.ts";

const chunk = (delta: object) => JSON.stringify({ choices: [{ index: 0, delta }] });

/**
 * What comes out of an answer whose bytes come in the given pieces: deltas in their order, with pieces that follow
 * each other joined, and the error.
 */
function outcomeOf(
  pieces: readonly Uint8Array[],
  startsThinking = false,
  wrap: (reader: ChatStreamReader) => AnswerReader = (reader) => reader,
): unknown[] {
  const outcome: unknown[] = [];
  let text = "";
  let last: ModelDelta | undefined;
  const push = (next: ModelDelta) => {
    if (next.type === "text.delta") text += next.text;
    // Calls in the text get ids of their own.
    const { id: _, ...delta } = { id: "", ...next };
    if ("text" in next && last?.type === next.type && idOf(last) === idOf(next))
      (outcome.at(-1) as { text: string }).text += next.text;
    else outcome.push(delta);
    last = next;
  };
  const profile = { ...commonProfile, startsThinking };
  const reader = new ChatStreamReader({ profile, toolNames: ["add"] });
  const answer = new ChatAnswer({ endpoint: "http://localhost/v1", createReader: () => wrap(reader), push });
  try {
    for (const piece of pieces) if (answer.read(piece)) break;
    answer.end();
  } catch (error) {
    // The start of what came, for the message, is as long as the first piece.
    outcome.push((error as { code: string }).code);
  }
  expect(answer.text).toBe(text);
  return outcome;
}

function idOf(delta: ModelDelta): string | undefined {
  return "id" in delta ? delta.id : undefined;
}

const words = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 5 }),
  fc.constantFrom(
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    '{"name": "add", "arguments": {}}',
    ",",
  ),
);
const deltas = fc.oneof(
  { arbitrary: words.map((content) => ({ content })), weight: 4 },
  { arbitrary: words.map((reasoning_content) => ({ reasoning_content })), weight: 1 },
  {
    arbitrary: fc
      .tuple(fc.nat(1), words)
      .map(([index, text]) => ({ tool_calls: [{ index, function: { name: "add", arguments: text } }] })),
    weight: 1,
  },
);
const frames = fc.array(
  fc.oneof(
    { arbitrary: deltas.map((delta) => `data: ${chunk(delta)}`), weight: 3 },
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
    fc.property(start, body, fc.array(fc.nat()), fc.boolean(), (start, body, cuts, startsThinking) => {
      const bytes = new TextEncoder().encode(start + body);
      const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
      const pieces = ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
      expect(outcomeOf(pieces, startsThinking)).toEqual(outcomeOf([bytes], startsThinking));
    }),
    { numRuns: 2_000 },
  );
});

test("cutting off twice, or after the end, emits nothing", () => {
  const all: ModelDelta[] = [];
  const reader = new ChatStreamReader({ profile: commonProfile, toolNames: [] });
  const answer = new ChatAnswer({
    endpoint: "",
    createReader: () => reader,
    push: (delta) => all.push(delta),
  });
  answer.read(new TextEncoder().encode(`data: ${chunk({ content: "a <thi" })}\n\n`));
  answer.cutOff();
  answer.cutOff();
  expect(all.map((delta) => "text" in delta && delta.text).join("")).toBe("a <thi");
});

/** The same reader without its short cut for chunks that only have another text. */
function withoutShortCut(reader: ChatStreamReader): AnswerReader {
  return {
    get hasTooManyCalls() {
      return reader.hasTooManyCalls;
    },
    read: (chunk) => reader.read(chunk),
    take: () => reader.take(),
    end: (ending) => reader.end(ending),
  };
}

test("a chunk that only has another text is read as any other", () => {
  const text = fc.constantFrom("a", "b", " word", '"', "\\", "");
  const delta = fc.oneof(
    fc.record({ content: text }),
    fc.record({ reasoning_content: text }),
    fc.record({ role: fc.constant("assistant"), content: text }),
    fc.record({ content: text, reasoning_content: fc.constantFrom(null, "", "so") }),
    fc.record({
      content: text,
      tool_calls: fc.constantFrom([], null, [{ index: 0, function: { name: "add", arguments: "{}" } }]),
    }),
    fc.record({ content: text, refusal: fc.constantFrom(null, "No.") }),
  );
  const choice = fc.record({
    index: fc.constantFrom(0, 0, 0, 1),
    delta,
    finish_reason: fc.constantFrom(null, null, "stop"),
  });
  const stream = fc.array(
    fc.record({ id: fc.constant("c"), choices: fc.array(choice, { minLength: 1, maxLength: 2 }) }),
    { minLength: 1, maxLength: 12 },
  );
  // The same chunk again and again is what the short cut is for.
  const repeated = fc
    .tuple(stream, fc.integer({ min: 1, max: 3 }))
    .map(([chunks, times]) => chunks.flatMap((it) => Array.from({ length: times }, () => it)));
  fc.assert(
    fc.property(repeated, (chunks) => {
      const bytes = new TextEncoder().encode(chunks.map((it) => `data: ${JSON.stringify(it)}\n\n`).join(""));
      expect(outcomeOf([bytes])).toEqual(outcomeOf([bytes], false, withoutShortCut));
    }),
    { numRuns: 500 },
  );
});

test("text of another choice is not part of the answer", () => {
  const of = (index: number, content: string) =>
    `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
  const sent = [of(0, "The"), of(0, " end"), of(1, "Not"), of(1, " this"), of(1, " one"), of(0, ".")].join(
    "",
  );
  const outcome = outcomeOf([new TextEncoder().encode(sent)]) as { type: string; text: string }[];
  expect(
    outcome
      .filter(({ type }) => type === "text.delta")
      .map(({ text }) => text)
      .join(""),
  ).toBe("The end.");
});
