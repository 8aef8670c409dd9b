import { describe, expect, test } from "vitest";
import { findSentences } from "./sentences.ts";

describe("sentences are found", () => {
  const texts = ["The Red fox jumps. A dog sleeps!", "Is a fox red?\nNo fox"];

  test("by words that stand together, whatever their case", () => {
    expect(findSentences("red FOX", texts)).toEqual(["The Red fox jumps."]);
  });

  test("by words that stand apart, if they stand together nowhere", () => {
    expect(findSentences("fox the", texts)).toEqual(["The Red fox jumps."]);
  });

  test("up to three of them", () => {
    expect(findSentences("fox", [...texts, "Fox four."])).toEqual([
      "The Red fox jumps.",
      "Is a fox red?",
      "No fox",
    ]);
  });

  test("in the last 100,000 characters", () => {
    expect(findSentences("fox", ["A fox. ", "x".repeat(99_990)])).toEqual(["A fox."]);
    expect(findSentences("fox", ["A fox. ", "x".repeat(100_000)])).toEqual([]);
  });

  test.each(["", "?!", "cat"])("nowhere for %j", (words) => {
    expect(findSentences(words, texts)).toEqual([]);
  });
});
