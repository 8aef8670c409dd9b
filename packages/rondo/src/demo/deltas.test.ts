import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deltasOf, piecesOf } from "./deltas.ts";
import { requestOf } from "./testkit/ask-demo.ts";

const answer = {
  thought: "Let me see.",
  text: "",
  calls: [
    { id: "call_1", name: "add", arguments: '{"a":1,"b":2}' },
    { id: "call_2", name: "say", arguments: '{"text":"one two three"}' },
  ],
};
const all = (maxTokens?: number, stop: string[] = [], it: typeof answer = answer) => [
  ...deltasOf(it, requestOf("Hi", { settings: { ...(maxTokens && { maxTokens }), stop } })),
];

describe("an answer", () => {
  test("streams its thought, then each call", () => {
    expect(all().map((delta) => ("text" in delta ? delta.text : delta.type))).toEqual([
      "Let",
      " me",
      " see.",
      "call.started",
      '{"a":1,"b":2}',
      "call.ended",
      "call.started",
      '{"text":"one',
      " two",
      ' three"}',
      "call.ended",
      "finished",
    ]);
    expect(all().at(-1)).toMatchObject({
      finishReason: "tool_calls",
      usage: { outputTokens: 7, reasoningTokens: 3 },
    });
  });

  test("is truncated at maxTokens, even inside a call", () => {
    const cut = all(6);
    expect(cut.at(-2)).toEqual({
      type: "call.ended",
      id: "call_2",
      name: "say",
      arguments: '{"text":"one two',
      isTruncated: true,
    });
    expect(cut.at(-1)).toMatchObject({ finishReason: "length", usage: { outputTokens: 6 } });
  });

  test("has no call beyond maxTokens", () => {
    expect(all(4).filter(({ type }) => type === "call.started")).toHaveLength(1);
    expect(all(2).filter(({ type }) => type === "call.started")).toHaveLength(0);
    expect(all(2).at(-1)).toMatchObject({ finishReason: "length" });
  });

  test("ends before a stop word", () => {
    const text = all(undefined, ["nothing", " three"], {
      thought: "",
      text: "One two three four",
      calls: [],
    });
    expect(text.flatMap((delta) => ("text" in delta ? delta.text : [])).join("")).toBe("One two");
    expect(text.at(-1)).toMatchObject({ finishReason: "stop" });
  });

  test("is the same text when its pieces are joined", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "é", "😀", "\ud800"), maxLength: 200 }),
        (text) => {
          expect(piecesOf(text).join("")).toBe(text);
        },
      ),
    );
  });
});
