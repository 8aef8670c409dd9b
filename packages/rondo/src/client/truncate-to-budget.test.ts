import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateTokens } from "../model/estimate-tokens.ts";
import type { Message } from "../model/message.ts";
import { tokenCalibration } from "../model/token-calibration.ts";
import { ContextBudgetError, truncateToBudget } from "./truncate-to-budget.ts";

/** One token for each letter, and the 4 of the message: easy to add up. */
const tokenizer = (text: string) => text.length;
const cost = (messages: readonly Message[]) => estimateTokens(messages, { tokenizer });

const system: Message = { role: "system", content: "sys" };
const user = (content: string): Message => ({ role: "user", content });
const says = (content: string): Message => ({ role: "assistant", content });
const calls = (...ids: string[]): Message => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
});
const result = (id: string): Message => ({ role: "tool", tool_call_id: id, content: "ok" });

describe("a conversation", () => {
  const old = [user("old"), calls("1", "2"), result("1"), result("2"), says("done")];
  const middle = [user("middle"), says("fine")];
  const newest = [user("new"), calls("3"), result("3")];
  const all = [system, ...old, ...middle, ...newest];

  test("that fits comes back as a copy", () => {
    const copy = truncateToBudget(all, { maxTokens: cost(all), tokenizer });
    expect(copy).toEqual(all);
    expect(copy).not.toBe(all);
    expect(truncateToBudget([], { maxTokens: 1 })).toEqual([]);
  });

  test("loses its oldest turns, whole, and as few as needed", () => {
    const cut = (maxTokens: number) => truncateToBudget(all, { maxTokens, tokenizer });
    expect(cut(cost(all) - 1)).toEqual([system, ...middle, ...newest]);
    expect(cut(cost([system, ...middle, ...newest]))).toEqual([system, ...middle, ...newest]);
    expect(cut(cost([system, ...middle, ...newest]) - 1)).toEqual([system, ...newest]);
    expect(cut(cost([system, ...newest]))).toEqual([system, ...newest]);
  });

  test("whose newest turn does not fit is refused, with the tokens needed", () => {
    const least = cost([system, ...newest]);
    const cut = () => truncateToBudget(all, { maxTokens: least - 1, tokenizer });
    expect(cut).toThrow(ContextBudgetError);
    expect(cut).toThrow(`cannot be cut to ${least - 1} tokens: what must stay has about ${least}.`);
    expect(cut).toThrow(
      expect.objectContaining({ code: "context_budget", maxTokens: least - 1, neededTokens: least }),
    );
  });

  test("may lose the oldest rounds of its newest turn with cutNewestTurn, if needed", () => {
    const long = [
      system,
      ...middle,
      user("new"),
      calls("3", "4"),
      result("4"),
      result("3"),
      calls("5"),
      result("5"),
    ];
    const cut = (maxTokens: number) => truncateToBudget(long, { maxTokens, tokenizer, cutNewestTurn: true });
    const newestTurn = long.slice(3);
    expect(cut(cost(long))).toEqual(long);
    expect(cut(cost(long) - 1)).toEqual([system, ...newestTurn]);
    const least = [system, user("new"), calls("5"), result("5")];
    expect(cut(cost([system, ...newestTurn]) - 1)).toEqual(least);
    expect(() => cut(cost(least) - 1)).toThrow(ContextBudgetError);
  });

  test("keeps the messages before the first user's message, if they fit", () => {
    const greeting = [system, system, says("Hello!"), user("a"), says("b"), user("c")];
    expect(truncateToBudget(greeting, { maxTokens: cost(greeting), tokenizer })).toEqual(greeting);
    expect(truncateToBudget(greeting, { maxTokens: cost(greeting) - 1, tokenizer })).toEqual([
      system,
      system,
      ...greeting.slice(3),
    ]);
  });

  test("never starts with a result that has lost its call", () => {
    const orphaned = [system, result("0"), ...newest];
    expect(truncateToBudget(orphaned, { maxTokens: 1_000, tokenizer })).toEqual([system, ...newest]);
    expect(truncateToBudget([result("0")], { maxTokens: 1_000 })).toEqual([]);
  });

  test("is measured with the calibration", () => {
    const messages = [user("a".repeat(400)), says("b".repeat(400)), user("c".repeat(400))];
    const calibration = tokenCalibration();
    calibration.learn(10_000, 20_000);
    const maxTokens = estimateTokens(messages);
    expect(truncateToBudget(messages, { maxTokens })).toHaveLength(3);
    expect(truncateToBudget(messages, { maxTokens, calibration })).toHaveLength(1);
  });
});

test.each([
  [{}, "maxTokens: expected a number"],
  [{ maxTokens: 0 }, "maxTokens: expected a whole number from 1, got 0."],
  [
    { maxTokens: 1, keep: 1 },
    "options.keep: expected one of the options maxTokens, keepTokens, cutNewestTurn, tokenizer",
  ],
  [{ maxTokens: 1, cutNewestTurn: 1 }, "cutNewestTurn: expected true or false, got 1."],
])("the options %j are refused", (options, message) => {
  expect(() => truncateToBudget([], options as never)).toThrow(message.replace("a number", "a whole number"));
});

describe("for any valid history", () => {
  const text = fc.string({ maxLength: 40 });
  const round = fc
    .array(text, { minLength: 1, maxLength: 3 })
    .chain((results) =>
      fc
        .shuffledSubarray([...results.keys()], { minLength: results.length })
        .map((order) => ({ results, order })),
    );
  const turn = fc.record({
    question: text,
    rounds: fc.array(round, { maxLength: 3 }),
    answer: fc.option(text),
  });
  const history = fc
    .record({
      systems: fc.array(text, { maxLength: 2 }),
      turns: fc.array(turn, { minLength: 1, maxLength: 6 }),
    })
    .map(({ systems, turns }) => {
      let id = 0;
      return [
        ...systems.map((content): Message => ({ role: "system", content })),
        ...turns.flatMap(({ question, rounds, answer }) => [
          user(question),
          ...rounds.flatMap(({ results, order }) => {
            const ids = results.map(() => `call_${id++}`);
            return [calls(...ids), ...order.map((index) => result(ids[index] ?? ""))];
          }),
          ...(answer === null ? [] : [says(answer)]),
        ]),
      ];
    });

  /** What is wrong with messages as the start of a request. */
  function problemsOf(messages: readonly Message[]): string[] {
    const open = new Set<string>();
    const problems: string[] = [];
    if (messages.find(({ role }) => role !== "system")?.role !== "user")
      problems.push("does not start with a user");
    for (const message of messages) {
      if (message.role === "tool") {
        if (!open.delete(message.tool_call_id)) problems.push(`${message.tool_call_id} has no call`);
      } else if (open.size > 0) problems.push("calls without results");
      if (message.role === "assistant") for (const { id } of message.tool_calls ?? []) open.add(id);
    }
    return open.size > 0 ? [...problems, "calls without results"] : problems;
  }

  /** All that may come out, the longest first: the slow and obvious way. */
  function allowed(messages: readonly Message[], cutNewestTurn: boolean): Message[][] {
    const system = messages.filter(({ role }) => role === "system");
    const body = messages.slice(system.length);
    const tails = body.map((_, index) => body.slice(index));
    const turns = tails.filter(([first]) => first?.role === "user");
    const question = body.findLast(({ role }) => role === "user");
    const rounds = (turns.at(-1) ?? [])
      .map((_, index, turn) => turn.slice(index))
      .slice(1)
      .filter(([first]) => first?.role !== "tool");
    const cut = cutNewestTurn && question ? rounds.map((tail) => [question, ...tail]) : [];
    return [...turns, ...cut].map((kept) => [...system, ...kept]);
  }

  test.each([false, true])(
    "the longest valid tail that fits remains (cutNewestTurn: %s)",
    (cutNewestTurn) => {
      fc.assert(
        fc.property(history, fc.integer({ min: 1, max: 600 }), (messages, maxTokens) => {
          const before = structuredClone(messages);
          const expected = allowed(messages, cutNewestTurn).find((kept) => estimateTokens(kept) <= maxTokens);
          let kept: Message[] | undefined;
          try {
            kept = truncateToBudget(messages, { maxTokens, cutNewestTurn });
          } catch (error) {
            if (!(error instanceof ContextBudgetError)) throw error;
          }
          expect(kept).toEqual(expected);
          expect(problemsOf(kept ?? messages)).toEqual([]);
          expect(messages).toEqual(before);
        }),
        { numRuns: 500 },
      );
    },
  );
});

describe("a lower mark", () => {
  const conversation = fc.array(
    fc.record({ asked: fc.nat(60), rounds: fc.array(fc.nat(40), { maxLength: 3 }), answer: fc.nat(60) }),
    { minLength: 1, maxLength: 20 },
  );
  const messagesOf = (turns: readonly { asked: number; rounds: number[]; answer: number }[]): Message[] =>
    turns.flatMap(({ asked, rounds, answer }, turn) => [
      user("u".repeat(asked)),
      ...rounds.flatMap((length, round): Message[] => [
        calls(`${turn}.${round}`),
        { role: "tool", tool_call_id: `${turn}.${round}`, content: "r".repeat(length) },
      ]),
      says("a".repeat(answer)),
    ]);

  test("keeps the beginning of the prompt until the budget is full again", () => {
    fc.assert(
      fc.property(conversation, fc.integer({ min: 250, max: 500 }), (turns, maxTokens) => {
        const messages = [system, ...messagesOf(turns)];
        const options = { maxTokens, keepTokens: Math.ceil(maxTokens / 2), tokenizer, cutNewestTurn: true };
        let last: Message[] = [];
        for (const [end, { role }] of messages.entries()) {
          if (role !== "assistant") continue; // a request was made before each answer
          const sent = truncateToBudget(messages.slice(0, end), options);
          expect(cost(sent)).toBeLessThanOrEqual(maxTokens);
          const isKept = last.every((message, index) => sent[index] === message);
          const added = messages.slice(messages.indexOf(last.at(-1) as Message) + 1, end);
          // Only a full budget moves the beginning.
          expect(isKept || cost([...last, ...added]) > maxTokens).toBe(true);
          last = sent;
        }
      }),
    );
  });

  test("is not above the budget, and what must stay may be above it", () => {
    const all = [system, user("x".repeat(50)), says("y".repeat(50)), user("z".repeat(50))];
    const options = { maxTokens: 100, keepTokens: 20, tokenizer };
    expect(truncateToBudget(all, options)).toEqual([system, all[3]]);
    expect(truncateToBudget(all, { ...options, keepTokens: 1000 })).toEqual(
      truncateToBudget(all, { maxTokens: 100, tokenizer }),
    );
  });
});
