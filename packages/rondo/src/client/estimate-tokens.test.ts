import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "../model/estimate-tokens.ts";
import type { Message } from "../model/message.ts";
import { guessTokens } from "../model/text-tokens.ts";
import { tokenCalibration } from "../model/token-calibration.ts";
import { image } from "./images.ts";
import { countedBy, countedTexts } from "./testkit/counted-texts.ts";

const user = (content: string): Message => ({ role: "user", content });
const mean = (numbers: readonly number[]) =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

describe("the guess for a text", () => {
  const errorOf = (guess: number, counts: readonly number[]) => Math.abs(guess / mean(counts) - 1);

  test.each(countedTexts)("is within a fifth of the mean of six models: $name", ({ text, counts }) => {
    expect(counts).toHaveLength(countedBy.length);
    expect(errorOf(guessTokens(text), counts)).toBeLessThan(0.2);
  });

  test("is off by less than 6 % on average, where characters / 4 is off by 39 %", () => {
    const errors = countedTexts.map(({ text, counts }) => errorOf(guessTokens(text), counts));
    const simpleErrors = countedTexts.map(({ text, counts }) => errorOf(text.length / 4, counts));
    expect(mean(errors)).toBeLessThan(0.06);
    expect(mean(simpleErrors)).toBeGreaterThan(0.38);
  });

  test("never goes down when text is added, and is finite for any string", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (first, second) => {
        const both = guessTokens(first + second);
        expect(both).toBeGreaterThanOrEqual(guessTokens(first));
        expect(Number.isFinite(both)).toBe(true);
      }),
    );
    expect(guessTokens("")).toBe(0);
    expect(guessTokens("\ud800")).toBeGreaterThan(0);
  });
});

describe("messages", () => {
  const tokenizer = (text: string) => text.length;
  const cost = (...messages: object[]) => estimateTokens(messages as Message[], { tokenizer });

  test("cost 4 tokens each, and all their strings", () => {
    expect(estimateTokens([])).toBe(0);
    expect(cost({ role: "user", content: "12345" })).toBe(4 + 4 + 5);
    expect(cost(user("12345"), user("12345"))).toBe(26);
    expect(cost({ role: "assistant", content: null })).toBe(4 + 9);
  });

  test("cost their names and arguments of calls, at any depth", () => {
    const call = { id: "c1", type: "function", function: { name: "add", arguments: '{"a":1}' } };
    expect(cost({ role: "a", content: null, tool_calls: [call] })).toBe(4 + 1 + 2 + 8 + 3 + 7);
    expect(cost({ role: "a", extra: { deep: [["x", { y: "zz" }]], number: 7 } })).toBe(4 + 1 + 3);
  });

  test("cost 85, 200 or 300 tokens for an image, whatever its size", () => {
    const content = (detail?: "low" | "auto" | "high") => ({
      role: "u",
      content: [
        { type: "t", text: "x" },
        image.fromBase64("A".repeat(40_000), "image/png", detail ? { detail } : {}),
      ],
    });
    expect(cost(content("low"))).toBe(4 + 3 + 85);
    expect(cost(content("auto"))).toBe(4 + 3 + 200);
    expect(cost(content())).toBe(4 + 3 + 200);
    expect(cost(content("high"))).toBe(4 + 3 + 300);
    expect(cost({ role: "u", content: [{ type: "image_url" }] })).toBe(4 + 1 + 200);
  });

  test("are rounded up", () => {
    expect(estimateTokens([user("x")], { tokenizer: () => 0.3 })).toBe(5);
    expect(Number.isInteger(estimateTokens([user("one two three")]))).toBe(true);
  });
});

test.each([
  [{ tokenizer: "cl100k" }, 'tokenizer: expected a function, got "cl100k".'],
  [{ tokenizer: (text: string) => [text] }, "use (text) => encode(text).length."],
  [{ tokenizer: () => Number.NaN }, "tokenizer(text): expected a number of tokens, got NaN."],
  [{ calibration: { ratio: 2 } }, "calibration: expected what tokenCalibration() gives"],
  [{ model: "gpt-3.5-turbo" }, "options.model: expected one of the options tokenizer, calibration"],
])("the options %o are refused", (options, message) => {
  expect(() => estimateTokens([user("x")], options as object)).toThrow(message);
});

test("anything but a list is refused", () => {
  expect(() => estimateTokens("text" as never)).toThrow('messages: expected a list of messages, got "text".');
});

describe("a calibration", () => {
  const messages = [user("word ".repeat(1_000))];
  const plain = estimateTokens(messages);

  test("changes nothing before it learns", () => {
    const calibration = tokenCalibration();
    expect(calibration.ratio).toBe(1);
    expect(estimateTokens(messages, { calibration })).toBe(plain);
  });

  test("approaches what the server counts, also when that changes", () => {
    const calibration = tokenCalibration();
    for (let round = 0; round < 5; round++) calibration.learn(plain, plain * 1.5);
    expect(calibration.ratio).toBeCloseTo(1.5, 1);
    expect(estimateTokens(messages, { calibration }) / plain).toBeCloseTo(calibration.ratio, 2);
    for (let round = 0; round < 20; round++) calibration.learn(plain, plain * 0.8);
    expect(calibration.ratio).toBeCloseTo(0.8, 1);
  });

  test("changes little with one short or one odd request", () => {
    const calibration = tokenCalibration();
    calibration.learn(10, 40);
    expect(calibration.ratio).toBeLessThan(1.3);
    for (let round = 0; round < 10; round++) calibration.learn(1_000, 1_000);
    calibration.learn(1_000, 3_000);
    expect(calibration.ratio).toBeLessThan(1.5);
  });

  test("stays within its bounds, and ignores 0", () => {
    const calibration = tokenCalibration();
    calibration.learn(0, 100);
    calibration.learn(100, 0);
    expect(calibration.ratio).toBe(1);
    calibration.learn(1_000, 1e9);
    expect(calibration.ratio).toBe(4);
    for (let round = 0; round < 100; round++) calibration.learn(1e9, 1);
    expect(calibration.ratio).toBe(0.25);
  });

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, "5"])("refuses %s", (tokens) => {
    expect(() => tokenCalibration().learn(100, tokens as number)).toThrow(
      "actual: expected a number of tokens",
    );
    expect(() => tokenCalibration().learn(tokens as number, 100)).toThrow("estimated: expected a number");
  });
});
