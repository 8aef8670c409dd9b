// Whatever a model writes, reading it takes time and memory in proportion to its length.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelProfile } from "../profile.ts";
import { commonProfile } from "../profiles.ts";
import { toolDialects } from "./dialects/dialects.ts";
import { defaultLimits, type ReadingLimits } from "./reading-limits.ts";
import { callBeginnings, hostileTexts, markers, repeated, wholeCalls } from "./testkit/hostile-text.ts";
import { TextReader } from "./text-reader.ts";

/**
 * How often each character may be looked at or copied, on average. Square growth is hundreds at the least length, and
 * only the longest has to find it where a part of the text is looked at again.
 */
const maxWork = 50;

interface Outcome {
  text: string;
  thinking: string;
  calls: string[];
  warnings: string[];
  work: number;
}

interface Setup {
  profile?: Partial<ModelProfile>;
  toolNames?: readonly string[];
  limits?: ReadingLimits;
}

function read(
  pieces: readonly string[],
  { profile, toolNames = ["add", "ping"], limits }: Setup = {},
): Outcome {
  const text: string[] = [];
  const thinking: string[] = [];
  const calls: string[] = [];
  const warnings = new Set<string>();
  const reader = new TextReader(
    { ...commonProfile, ...profile },
    toolNames,
    {
      text: (piece) => text.push(piece),
      thinking: (piece) => thinking.push(piece),
      call: (call) => calls.push(JSON.stringify(call)),
      warn: (message) => warnings.add(message),
    },
    limits,
  );
  for (const piece of pieces) reader.write(piece);
  reader.end({ hasOtherCalls: false, isCutOff: false });
  return {
    text: text.join(""),
    thinking: thinking.join(""),
    calls,
    warnings: [...warnings],
    work: reader.work,
  };
}

function cut(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, i) =>
    text.slice(i * length, (i + 1) * length),
  );
}

/** The names of the texts that took more work than they may. */
function tooMuch(length: number, pieceLength: number, setup?: Setup, max = maxWork): string[] {
  return hostileTexts.flatMap(({ name, make }) => {
    const text = make(length);
    const { work } = read(cut(text, pieceLength), setup);
    return work <= max * text.length ? [] : [`${name}: ${Math.round(work / text.length)} for a character`];
  });
}

test("every opener of every dialect is among the markers", () => {
  const openers = Object.values(toolDialects).flatMap((dialects) =>
    dialects.flatMap((dialect) => dialect.openers),
  );
  expect(openers.length).toBeGreaterThan(20);
  expect(openers.filter((opener) => opener !== "" && !markers.includes(opener))).toEqual([]);
});

describe("work grows with the length alone", () => {
  // All profiles read the same dialects; their order differs.
  test.each<[string, Partial<ModelProfile>]>([
    ["with the common profile", {}],
    ["with the dialects in another order", { toolDialects: commonProfile.toolDialects.toReversed() }],
    ["where the text begins inside thinking", { startsThinking: true }],
    ["without think tags", { thinkTags: [] }],
  ])("%s", (_, profile) => {
    expect(tooMuch(8_000, 8_000, { profile })).toEqual([]);
  });

  test("in small pieces", () => {
    expect(tooMuch(6_000, 1)).toEqual([]);
    expect(tooMuch(6_000, 7)).toEqual([]);
  }, 120_000);

  test("with a tool of another name, and without tools", () => {
    expect(tooMuch(8_000, 8_000, { toolNames: ["other"] })).toEqual([]);
    expect(tooMuch(8_000, 8_000, { toolNames: [] })).toEqual([]);
  });

  test("in a longer text", () => {
    expect(tooMuch(60_000, 30_000, {}, maxWork / 2)).toEqual([]);
  }, 120_000);

  test("for any mixture of markers, nested and repeated", () => {
    const bit = fc.constantFrom(...markers, ...callBeginnings, ...wholeCalls);
    const mixture = fc.array(fc.tuple(fc.array(bit, { minLength: 1, maxLength: 8 }), fc.nat(10_000)), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(mixture, fc.constantFrom(3, 100, 100_000), (parts, pieceLength) => {
        const text = parts.map(([bits, length]) => repeated(bits.join(""), length + 2_000)).join("");
        expect(read(cut(text, pieceLength)).work).toBeLessThanOrEqual(
          maxWork * Math.max(text.length, 10_000),
        );
      }),
      { numRuns: 150 },
    );
  });
});

test("four million characters are read, and calls keep nothing but themselves, in 80 MB of memory", () => {
  const script = fileURLToPath(new URL("testkit/read-hostile.ts", import.meta.url));
  const names = [
    "<function=add><parameter=a>",
    "<tool_call>add<arg_key>a</arg_key><arg_value> ",
    '<tool_call>{"arguments":{"a":"',
    "<｜tool▁calls▁begin｜> then <｜tool▁call▁begin｜>add<｜tool▁sep｜>{}<｜tool▁call▁end｜> then <｜tool▁call▁begin｜>nope",
    "all of them in turn",
  ];
  expect(hostileTexts.filter(({ name }) => names.includes(name))).toHaveLength(names.length);
  const args = [
    "--max-old-space-size=80",
    "--expose-gc",
    "--conditions=rondo-source",
    script,
    "4000000",
    ...names,
  ];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ stdout, stderr, status }).toEqual({ stdout: "done\n", stderr: "", status: 0 });
}, 240_000);

describe("limits", () => {
  const tiny: ReadingLimits = { callLength: 150, calls: 3, spaceLength: 4, rereadBase: 20, rereadFactor: 1 };
  const bits = fc.constantFrom(...markers, ...callBeginnings, ...wholeCalls, "text", "<tool_call>{}");
  const pieces = fc
    .array(bits, { maxLength: 20 })
    .chain((parts) =>
      fc.tuple(
        fc.constant(parts.join("")),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 }),
      ),
    );

  test("hold at the same place however the text is split", () => {
    let limited = 0;
    fc.assert(
      fc.property(pieces, fc.boolean(), ([text, lengths], startsThinking) => {
        const setup = { limits: tiny, profile: { startsThinking } };
        const { work: _, ...whole } = read([text], setup);
        limited += whole.warnings.length;
        let at = 0;
        const split = lengths.map((length) => {
          at += length;
          return text.slice(at - length, at);
        });
        split.push(text.slice(at));
        expect(read(text.split(""), setup)).toMatchObject(whole);
        expect(read(split, setup)).toMatchObject(whole);
      }),
      { numRuns: 1_000 },
    );
    expect(limited).toBeGreaterThan(100);
  });

  test("lose no text that names no offered tool", () => {
    fc.assert(
      fc.property(pieces, ([text]) => {
        const setup = { limits: tiny, toolNames: ["zzz"], profile: { thinkTags: [] } };
        expect(read([text], setup)).toMatchObject({ text, calls: [] });
        expect(read(text.split(""), setup)).toMatchObject({ text, calls: [] });
      }),
      { numRuns: 500 },
    );
  });

  test("a call that is too long is text, and so is all that it holds and all that follows", () => {
    const call = '<tool_call>{"name":"ping","arguments":{}}</tool_call>';
    const text = `Now: <tool_call>{"name":"add","arguments":{"a":"${"x ".repeat(60)} ${call} ${call}"}}</tool_call>${call}`;
    for (const split of [[text], text.split("")])
      expect(read(split, { limits: { ...defaultLimits, callLength: 150 } })).toMatchObject({
        text,
        calls: [],
        warnings: [expect.stringContaining("longer than 150 characters")],
      });
  });

  test.each([
    [
      "JSON",
      (value: string) => `<tool_call>{"name":"add","arguments":{"a":${JSON.stringify(value)}}}</tool_call>`,
    ],
    ["tags", (value: string) => `<function=add><parameter=a>${value}</parameter></function>`],
    ["Python", (value: string) => `[add(a='${value}')]`],
  ])("two million characters are not too long: %s", (_, callOf) => {
    const value = "if (a < b) [c] ".repeat(140_000);
    const text = callOf(value);
    for (const split of [[text], cut(text, 30)]) {
      const { calls } = read(split);
      expect(calls).toHaveLength(1);
      expect(JSON.parse(JSON.parse(calls[0] as string).arguments)).toEqual({ a: value });
    }
  });

  test.each([
    ['<tool_call>{"name":"ping","arguments":{}}</tool_call>', 1_000],
    ["<|tool_call_begin|>ping<|tool_call_argument_begin|>{}<|tool_call_end|>", 1_000],
    ['{"name":"ping","parameters":{}};', 0],
  ])("a thousand calls are the most: %s", (call, count) => {
    const few = read([call.repeat(1_000)]);
    expect(few.calls).toHaveLength(1_000);
    expect(few).toMatchObject({ text: "", warnings: [] });
    const many = read([call.repeat(1_001)]);
    expect(many.calls).toHaveLength(count);
    expect(many).toMatchObject({
      text: call.repeat(1_001 - count),
      warnings: [expect.stringContaining("more than 1000 tool calls")],
    });
  });

  test("a call after very much markup that is none is found", () => {
    const call = '<tool_call>{"name":"ping","arguments":{}}</tool_call>';
    const lookalikes = '<tool_call>{"arguments":{"a":<tool_call> '.repeat(5_000);
    const { calls, text } = read([`${lookalikes}${call}`]);
    expect(calls).toHaveLength(1);
    expect(text).toBe(lookalikes);
  });

  test("white space before an answer is held back up to its limit", () => {
    const space = " ".repeat(defaultLimits.spaceLength - 1);
    const call = '<tool_call>{"name":"ping","arguments":{}}</tool_call>';
    expect(read([`${space}${call}`]).text).toBe("");
    expect(read([`${space} ${call}`]).text).toBe(`${space} `);
    expect(read([`${space} x${call}`]).text).toBe(`${space} x`);
  });
});
