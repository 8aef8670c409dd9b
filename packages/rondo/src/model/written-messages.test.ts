import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "./message.ts";
import { commonProfile } from "./profiles.ts";
import { wireMessages } from "./wire-messages.ts";
import { messagesJson } from "./written-messages.ts";

const callOf = (text: string, id = "call00000") => ({
  id,
  type: "function" as const,
  function: { name: "add", arguments: text },
});

describe("a list that is sent again and again", () => {
  /** The same messages, as if they had never been sent. */
  const written = (messages: readonly Message[], profile = commonProfile) =>
    JSON.stringify(wireMessages(structuredClone([...messages]), profile));

  test("is written as if it were new, whatever was added to it", () => {
    const messages: Message[] = [{ role: "user", content: "Add." }];
    for (let round = 0; round < 5; round++) {
      expect(messagesJson(messages, commonProfile).join("")).toBe(written(messages));
      messages.push(
        { role: "assistant", content: null, tool_calls: [callOf(`{ "a": ${round} }`, `id ${round % 2}`)] },
        { role: "tool", tool_call_id: `id ${round % 2}`, name: "add", content: `${round} "ü"` },
      );
    }
  });

  test("is written in parts that stay as they are, however long it becomes", () => {
    const messages: Message[] = [{ role: "user", content: "Go on." }];
    for (let round = 0; round < 40; round++) {
      messages.push({ role: "assistant", content: "word ".repeat(1_000) });
      messages.push({ role: "user", content: "More." });
      const parts = messagesJson(messages, commonProfile);
      expect(parts.join("")).toBe(written(messages));
    }
    const kept = messagesJson(messages, commonProfile).slice(1, -1);
    expect(kept.length).toBeGreaterThan(5);
    // What was written before the list was sent a second time is one part.
    expect(kept.every((part) => part.length < 30_000)).toBe(true);
  });

  test("is written as if it were new in any of its branches, with any system message", () => {
    const callId = fc.constantFrom("a", "b");
    const turn = fc.oneof(
      fc.record({ question: fc.string(), answer: fc.string() }).map(({ question, answer }): Message[] => [
        { role: "user", content: question },
        { role: "assistant", content: answer },
      ]),
      fc.record({ id: callId, result: fc.string() }).map(({ id, result }): Message[] => [
        { role: "user", content: "word ".repeat(2_000) },
        { role: "assistant", content: null, tool_calls: [callOf('{"a":1}', id)] },
        { role: "tool", tool_call_id: id, name: "add", content: result },
      ]),
    );
    const steps = fc.array(
      fc.record({ back: fc.nat(3), turn, system: fc.constantFrom("", "Be brief.", "Be kind.") }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const first: Message = { role: "user", content: "Go." };
        const turns: Message[][] = [];
        for (const { back, turn: next, system } of all) {
          turns.splice(Math.max(0, turns.length - back), back, next);
          const messages: Message[] = [{ role: "system", content: system }, first, ...turns.flat()];
          expect(messagesJson(messages, commonProfile).join("")).toBe(written(messages));
        }
      }),
      { numRuns: 50 },
    );
  });

  test("is written anew where a message was changed, replaced or removed, or for another profile", () => {
    const call = callOf('{"a":1}');
    const answer: Message = { role: "assistant", content: "", reasoning: "Hm.", tool_calls: [call] };
    const result: Message = { role: "tool", tool_call_id: call.id, content: "2" };
    const messages: Message[] = [{ role: "user", content: "Add." }, answer, result];
    const changes: (() => void)[] = [
      () => {},
      () => {},
      () => (answer.content = "Adding."),
      () => (answer.reasoning = "So."),
      () => (call.id = "call00009"),
      () => (call.function.name = "sum"),
      () => Object.assign(messages[0] as object, { name: "ann" }),
      () => Object.assign(messages[0] as object, { name: "bob" }),
      () => (call.function.arguments = '{"a":3}'),
      () => (result.content = "4"),
      () => Object.assign(result, { cache_control: { type: "ephemeral" } }),
      () => Object.assign(result, { cache_control: { type: "other" } }),
      () => Object.assign(result, { content: [{ type: "text", text: "5" }] }),
      () => Object.assign((result.content as unknown as object[])[0] as object, { text: "6" }),
      () => (messages[1] = { role: "assistant", content: "No." }),
      () => messages.splice(0, 1),
    ];
    for (const change of changes) {
      change();
      expect(messagesJson(messages, commonProfile).join("")).toBe(written(messages));
    }
    const thinking = { ...commonProfile, sendReasoning: "think-tags" } as const;
    messages.push(answer);
    for (const profile of [thinking, commonProfile, thinking])
      expect(messagesJson(messages, profile).join("")).toBe(written(messages, profile));
  });

  test("is kept beyond the list only up to a length, as its first message may live for long", () => {
    const first: Message = { role: "user", content: "Go." };
    const long: Message = { role: "assistant", content: "word ".repeat(300_000) };
    const messages = [first, long, { role: "user", content: "More." } as const];
    for (let time = 0; time < 4; time++)
      for (const list of [messages, [...messages], [first, { role: "assistant", content: "No." } as const]])
        expect(messagesJson(list, commonProfile).join("")).toBe(written(list));
  });

  test("notices other thinking where that is sent", () => {
    const thinking = { ...commonProfile, sendReasoning: "think-tags" } as const;
    const answer: Message = { role: "assistant", content: "Yes.", reasoning: "Hm." };
    const messages: Message[] = [{ role: "user", content: "Go." }, answer];
    for (const reasoning of ["Hm.", "Hm.", "So.", "Ah."]) {
      answer.reasoning = reasoning;
      expect(messagesJson(messages, thinking).join("")).toBe(written(messages, thinking));
    }
  });

  test("is written right after a message that could not be written", () => {
    const short = { ...commonProfile, callIds: "calls" } as const;
    const answer: Message = { role: "assistant", content: null, tool_calls: [callOf("{}", "a b")] };
    const messages: Message[] = [{ role: "user", content: "Go." }];
    for (let time = 0; time < 3; time++) messagesJson(messages, short);
    messages.push(answer, { role: "tool", tool_call_id: "a b", content: 1n as unknown as string });
    expect(() => messagesJson(messages, short)).toThrow(/BigInt/);
    messages[2] = { role: "tool", tool_call_id: "a b", content: "1" };
    expect(messagesJson(messages, short).join("")).toBe(written(messages, short));
  });
});
