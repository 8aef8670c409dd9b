import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { callChunks, chunkOf, readAll, readText } from "./reading/testkit/read-all.ts";

describe("text", () => {
  test("each character comes exactly once", () => {
    expect(readText(["1", "1", "0"]).text).toBe("110");
    expect(readText(["ha", "ha"]).text).toBe("haha");
  });

  test("strings, parts, empty and null content all count for what they are", () => {
    const parts = [{ type: "text", text: "b" }, "c", { type: "output_text", text: "d" }];
    expect(readText(["a", "", null, undefined, parts]).text).toBe("abcd");
  });

  test("text goes out with the chunk that brought it", () => {
    const { deltas } = readText(["Hello", " wor", "ld"]);
    expect(deltas.filter(({ type }) => type === "text.delta")).toHaveLength(3);
  });

  test("content that is neither text nor thinking is skipped with one warning", () => {
    const { text, warnings } = readText([[{ type: "audio", data: "" }], [{ type: "audio" }], "x", 5]);
    expect(text).toBe("x");
    expect(warnings).toEqual([
      "Skipped a part of type 'audio', which is neither text nor thinking.",
      "Skipped content of type number, which is neither text nor thinking.",
    ]);
  });

  test("a refusal is text for the user", () => {
    expect(readAll([chunkOf({ refusal: "I cannot." })]).text).toBe("I cannot.");
  });

  test("text, thinking and calls of one chunk all come through", () => {
    const call = { index: 0, id: "a", function: { name: "add", arguments: "{}" } };
    const { text, thinking, calls } = readAll([
      chunkOf({ content: "Hi", reasoning_content: "hm", tool_calls: [call] }),
    ]);
    expect([text, thinking, calls[0]?.name]).toEqual(["Hi", "hm", "add"]);
  });

  test("of several choices the first counts", () => {
    const { text, warnings } = readAll([
      {
        choices: [
          { index: 0, delta: { content: "a" } },
          { index: 1, delta: { content: "b" } },
        ],
      },
    ]);
    expect(text).toBe("a");
    expect(warnings).toEqual(["Skipped a choice that is not the first: one was asked for."]);
  });

  test("white space that only surrounds calls is not an answer", () => {
    const call = { index: 0, id: "a", function: { name: "add", arguments: "{}" } };
    expect(readAll([chunkOf({ content: "\n\n" }), chunkOf({ tool_calls: [call] })]).text).toBe("");
    expect(readText(["  "]).text).toBe("  ");
  });
});

describe("cumulative text", () => {
  const cumulative = { profile: { text: "cumulative" } } as const;

  test.each([
    [["1", "11", "110"], "110"],
    [["Hel", "Hello", "Hello", "Hello!"], "Hello!"],
    [["Hello", "W", "Wo", "World"], "HelloWorld"],
    [["Hel", "lo", "Hello!"], "Hello!"],
    [["Hello", "Hel", "Hello!"], "Hello!"],
  ])("%j is %j", (pieces, text) => {
    expect(readText(pieces, cumulative).text).toBe(text);
  });

  test("any text that grows comes through once", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), (pieces) => {
        const grown = pieces.map((_, i) => pieces.slice(0, i + 1).join(""));
        expect(readText(grown, { ...cumulative, toolNames: [] }).text).toBe(
          readText([pieces.join("")], { toolNames: [] }).text,
        );
      }),
    );
  });

  test("thinking and arguments that grow come through once", () => {
    const { thinking, calls } = readAll(
      [
        chunkOf({ reasoning: "a" }),
        chunkOf({ reasoning: "ab" }),
        ...callChunks(
          [{ index: 0, id: "x", function: { name: "add", arguments: '{"a"' } }],
          [{ index: 0, id: "x", function: { name: "add", arguments: '{"a": 1}' } }],
        ),
      ],
      cumulative,
    );
    expect(thinking).toBe("ab");
    expect(calls).toEqual([{ name: "add", arguments: '{"a": 1}', isTruncated: false }]);
  });
});

describe("thinking in fields of its own", () => {
  test.each([
    [{ reasoning_content: "hm" }],
    [{ reasoning: "hm" }],
    [
      {
        reasoning_details: [
          { type: "reasoning.text", text: "h" },
          { type: "reasoning.summary", summary: "m" },
        ],
      },
    ],
    [{ reasoning_content: "hm", reasoning: "hm" }],
    [{ reasoning_content: null, reasoning: "hm" }],
    [{ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }],
    [{ content: [{ type: "reasoning", text: "hm" }] }],
  ])("%j", (delta) => {
    expect(readAll([chunkOf(delta), chunkOf({ content: "4" })])).toMatchObject({ thinking: "hm", text: "4" });
  });

  test("text does not start inside thinking if the thinking came in its own field", () => {
    const summary = readAll([chunkOf({ reasoning_content: "hm" }), chunkOf({ content: "4" })], {
      profile: { startsThinking: true },
    });
    expect(summary).toMatchObject({ thinking: "hm", text: "4", warnings: [] });
  });
});

describe("the end", () => {
  const call = { index: 0, id: "a", function: { name: "add", arguments: '{"a":1}' } };

  test.each([
    ["stop with calls", [chunkOf({ tool_calls: [call] }), chunkOf({}, "stop")], "tool_calls"],
    ["no reason, with calls", [chunkOf({ tool_calls: [call] })], "tool_calls"],
    ["no reason", [chunkOf({ content: "a" })], "unknown"],
    ["tool_calls without calls", [chunkOf({ content: "a" }, "tool_calls")], "stop"],
    [
      "function_call",
      [chunkOf({ function_call: { name: "add", arguments: "{}" } }, "function_call")],
      "tool_calls",
    ],
    ["max_tokens", [chunkOf({}, "max_tokens")], "length"],
    ["SAFETY", [chunkOf({}, "SAFETY")], "content_filter"],
    ["a word of the server's own", [chunkOf({}, "because")], "unknown"],
    ["no delta", [chunkOf({ content: "a" }), { choices: [{ finish_reason: "stop" }] }], "stop"],
    ["null delta", [{ choices: [{ delta: null, finish_reason: "stop" }] }], "stop"],
    ["no choices", [chunkOf({ content: "a" }, "stop"), { choices: [] }, {}], "stop"],
  ] as const)("%s", (_, chunks, finishReason) => {
    const { deltas } = readAll(chunks);
    expect(deltas.at(-1)).toMatchObject({ type: "finished", finishReason });
    expect(deltas.filter(({ type }) => type === "finished")).toHaveLength(1);
  });

  test.each([
    ['{"a":1,"b":2', "length", false, true],
    ['{"a":1}', "length", false, false],
    ["", "length", false, true],
    ['{"a":1,"b":2', null, true, true],
    ['{"a":1,"b":2', null, false, true],
    ['{"a":1}', null, true, false],
    ["", null, false, false],
    ['{"a":1,"b":2', "stop", false, false],
    ["", "stop", false, false],
    ["", "content_filter", false, true],
    ["", "abort", false, true],
    ['{"a":1}', "error", false, false],
  ] as const)("arguments %j, reason %j, cut off %j: truncated %j", (text, reason, isCutOff, isTruncated) => {
    const piece = { index: 0, id: "a", function: { name: "add", arguments: text } };
    const { calls } = readAll([chunkOf({ tool_calls: [piece] }), chunkOf({}, reason)], { isCutOff });
    expect(calls).toEqual([{ name: "add", arguments: text, isTruncated }]);
  });

  test.each([
    ["", null, true],
    ["", "stop", false],
    ["", "tool_calls", false],
    ["{}", null, false],
  ] as const)("arguments %j, reason %j, no [DONE]: truncated %j", (text, reason, isTruncated) => {
    const piece = { index: 0, id: "a", function: { name: "ping", arguments: text } };
    const chunks = [chunkOf({ tool_calls: [piece] }), chunkOf({}, reason)];
    expect(readAll(chunks, { hasEnd: false }).calls).toEqual([
      { name: "ping", arguments: text, isTruncated },
    ]);
  });

  test("a whole message instead of deltas is read", () => {
    const message = { role: "assistant", content: "Hi", tool_calls: [call, { ...call, index: 1, id: "b" }] };
    const { text, calls } = readAll([{ choices: [{ message, finish_reason: "tool_calls" }] }]);
    expect([text, calls.length]).toEqual(["Hi", 2]);
  });

  test("a message that only repeats the deltas is not read again", () => {
    const message = { content: "Hi", tool_calls: [call] };
    const { text, calls } = readAll([
      chunkOf({ content: "Hi", tool_calls: [call] }),
      { choices: [{ message, finish_reason: "stop" }] },
    ]);
    expect([text, calls.length]).toEqual(["Hi", 1]);
  });
});

describe("usage", () => {
  const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };

  test.each([
    [{ prompt_tokens: 2.6, completion_tokens: 4.4 }, usage],
    [{ prompt_tokens: 3, completion_tokens: 4, total_tokens: -1 }, usage],
    [{ prompt_tokens: 3, completion_tokens: 4, total_tokens: 1e300 }, usage],
    [{ prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: -5 } }, usage],
    [
      { prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 0.2 } },
      { ...usage, cachedTokens: 0 },
    ],
    [{ prompt_tokens: -3, completion_tokens: -4 }, undefined],
    [{ prompt_tokens: "3", completion_tokens: "4" }, undefined],
    [{ prompt_tokens: Number.NaN, completion_tokens: Number.POSITIVE_INFINITY }, undefined],
    [
      { prompt_tokens: 3, output_tokens: -4, total_tokens: 2 },
      { inputTokens: 3, outputTokens: 0, totalTokens: 3 },
    ],
  ])("%j is whole and not negative", (sent, expected) => {
    expect(readAll([{ choices: [], usage: sent }]).usage).toEqual(expected);
  });

  test.each([
    [
      "in a last chunk without choices",
      [{ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } }],
      usage,
    ],
    ["as input_tokens", [{ choices: [], usage: { input_tokens: 3, output_tokens: 4 } }], usage],
    [
      "with a total of the server's own",
      [{ usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 9 } }],
      { ...usage, totalTokens: 9 },
    ],
    [
      "in every chunk",
      [
        { usage: { prompt_tokens: 3, completion_tokens: 1 } },
        { usage: { prompt_tokens: 3, completion_tokens: 4 } },
        { usage: null },
      ],
      usage,
    ],
    ["in a choice", [{ choices: [{ usage: { prompt_tokens: 3, completion_tokens: 4 } }] }], usage],
    ["as Groq's", [{ x_groq: { usage: { prompt_tokens: 3, completion_tokens: 4 } } }], usage],
    [
      "as timings of llama.cpp",
      [{ timings: { prompt_n: 1, cache_n: 2, predicted_n: 4 } }],
      { ...usage, cachedTokens: 2 },
    ],
    [
      "with its details",
      [
        {
          usage: {
            prompt_tokens: 3,
            completion_tokens: 4,
            prompt_tokens_details: { cached_tokens: 1 },
            completion_tokens_details: { reasoning_tokens: 2 },
          },
        },
      ],
      { ...usage, cachedTokens: 1, reasoningTokens: 2 },
    ],
    [
      "before timings",
      [{ usage: { prompt_tokens: 3, completion_tokens: 4 }, timings: { prompt_n: 9, predicted_n: 9 } }],
      usage,
    ],
    ["half", [{ usage: { prompt_tokens: 3, total_tokens: 7 } }], usage],
    ["absent", [chunkOf({ content: "a" })], undefined],
    ["broken", [{ usage: { prompt_tokens: "3", completion_tokens: -1 } }, { usage: 5 }], undefined],
  ])("%s", (_, chunks, expected) => {
    expect(readAll(chunks).usage).toEqual(expected);
  });
});

describe("anything", () => {
  test("never throws, and always finishes once", () => {
    const anything = fc.anything({
      withBigInt: true,
      withNullPrototype: true,
      withMap: true,
      withSparseArray: true,
    });
    const delta = fc.record(
      {
        content: fc.oneof(anything, fc.string()),
        reasoning: anything,
        tool_calls: fc.oneof(
          anything,
          fc.array(
            fc.record(
              { index: anything, id: anything, function: anything, name: anything },
              { requiredKeys: [] },
            ),
          ),
          fc.array(
            fc.record({
              index: fc.oneof(fc.nat(2), anything),
              function: fc.record({ name: fc.oneof(fc.string(), anything), arguments: anything }),
            }),
          ),
        ),
        function_call: anything,
      },
      { requiredKeys: [] },
    );
    const choice = fc.oneof(
      anything,
      fc.record(
        { index: anything, delta: fc.oneof(anything, delta), message: anything, finish_reason: anything },
        { requiredKeys: [] },
      ),
    );
    const chunk = fc.oneof(
      anything,
      fc.record(
        { choices: fc.oneof(anything, fc.array(choice)), usage: anything, timings: anything },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.array(chunk), fc.boolean(), (chunks, isCutOff) => {
        const { deltas, ids } = readAll(chunks, { isCutOff });
        expect(deltas.filter(({ type }) => type === "finished")).toHaveLength(1);
        expect(new Set(ids).size).toBe(ids.length);
      }),
      { numRuns: 500 },
    );
  });

  test("a getter that throws costs its chunk only", () => {
    const bad = Object.defineProperty({}, "choices", {
      get() {
        throw new Error("no");
      },
    });
    const { text, warnings } = readAll([bad, chunkOf({ content: "a" })]);
    expect(text).toBe("a");
    expect(warnings).toEqual(["Skipped a chunk that could not be read: no."]);
  });

  test("chunks that are not objects are skipped with a warning", () => {
    const { text, warnings } = readAll([
      null,
      5,
      "x",
      [],
      { choices: "x" },
      { choices: [null] },
      chunkOf({ content: "a" }),
    ]);
    expect(text).toBe("a");
    expect(warnings).toHaveLength(3);
  });
});
