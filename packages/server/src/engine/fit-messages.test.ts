import type { Message } from "rondo";
import { estimateTokens } from "rondo/budget";
import { commonProfile } from "rondo/models";
import { describe, expect, test } from "vitest";
import { fitMessages } from "./fit-messages.ts";

const profile = { ...commonProfile, outputMode: "prompt" as const };
const plain = {
  text: { format: { type: "text" } },
  truncation: "disabled",
  max_output_tokens: undefined,
} as const;
const schema = { type: "object", properties: { a: { type: "number" } } } as const;
const shaped = { ...plain, text: { format: { type: "json_schema", name: "answer", schema } } } as const;
const question: Message = { role: "user", content: "Hi." };

describe("a shape that the model server", () => {
  test("enforces is not said again", () => {
    expect(fitMessages([question], shaped, { ...profile, outputMode: "native" })).toEqual([question]);
  });

  test("cannot enforce is asked for, in the one system message", () => {
    const [system, ...others] = fitMessages(
      [{ role: "system", content: "Be brief." }, question],
      shaped,
      profile,
    );
    expect(system?.content).toBe(
      `Be brief.\n\nAnswer with one JSON object and nothing else. It must fit this JSON Schema: ${JSON.stringify(schema)}`,
    );
    expect(others).toEqual([question]);
    expect(fitMessages([question], shaped, profile)[0]).toMatchObject({ role: "system" });
  });
});

describe("truncation", () => {
  const long = Array.from({ length: 200 }, (_, n): Message[] => [
    { role: "user", content: `Question number ${n}` },
    { role: "assistant", content: `Answer number ${n}` },
  ]).flat();

  test("auto drops the oldest turns until there is room for the answer", () => {
    const messages = fitMessages(
      [...long, question],
      { ...plain, truncation: "auto" },
      { ...profile, contextWindow: 3000 },
    );
    expect(messages.at(-1)).toEqual(question);
    expect(messages.length).toBeLessThan(long.length);
    expect(estimateTokens(messages)).toBeLessThanOrEqual(3000 - 1024);
  });

  test("auto changes nothing where it fits, or where the window is not known", () => {
    const auto = { ...plain, truncation: "auto" } as const;
    expect(fitMessages([question], auto, { ...profile, contextWindow: 3000 })).toEqual([question]);
    expect(fitMessages(long, auto, profile)).toEqual(long);
  });

  test("disabled leaves it to the model server", () => {
    expect(fitMessages(long, plain, { ...profile, contextWindow: 100 })).toEqual(long);
  });

  test("auto says so when not even the newest question fits", () => {
    const huge: Message = { role: "user", content: "word ".repeat(5000) };
    expect(() =>
      fitMessages([huge], { ...plain, truncation: "auto" }, { ...profile, contextWindow: 100 }),
    ).toThrow(
      expect.objectContaining({
        status: 400,
        code: "context_length_exceeded",
        message: expect.stringMatching(/has about \d+ tokens, and there is room for 50 besides the answer/),
      }),
    );
  });
});
