// A run that stops anywhere and continues from its stored state ends as if it had never stopped.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Message, type ModelProvider, tool } from "../index.ts";
import { type LoopEvent, type LoopOptions, type RunState, run } from "../loop.ts";
import { commonProfile } from "../models.ts";
import { eventsOf, last, prompt } from "./testkit/loop-kit.ts";

const add = tool("add", "Adds.", { a: Number, b: Number }, ({ a, b }) => a + b);
const theirs = tool("theirs", "The client's.", {}, () => "never");

interface ScriptedCall {
  readonly name: string;
  readonly arguments: string;
}

/**
 * Gives the answer that follows the answers in the conversation, as a model does that has no other memory. Some use
 * the ids of their calls again in each answer.
 */
function modelOf(
  answers: readonly (readonly ScriptedCall[])[],
  { reusesIds = false }: { reusesIds?: boolean } = {},
): ModelProvider {
  return {
    name: "memoryless",
    endpoint: "scripted://memoryless",
    profile: commonProfile,
    async *stream({ messages, tools }) {
      const count = messages.filter(({ role }) => role === "assistant").length;
      const calls = tools ? (answers[count] ?? []) : [];
      yield { type: "text.delta", text: `answer ${count}` };
      for (const [index, call] of calls.entries())
        yield {
          type: "call.ended",
          id: reusesIds ? `${index}` : `${count}:${index}`,
          ...call,
          isTruncated: false,
        };
      yield { type: "finished", finishReason: calls.length > 0 ? "tool_calls" : "stop", usage };
    },
  };
}
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** What a log of the events knows after a crash. */
function afterCrash(events: readonly LoopEvent[]): { messages: Message[]; state: RunState | undefined } {
  const messages = events.flatMap((event) =>
    event.type === "model.finished" || event.type === "tool.finished" ? [event.message] : [],
  );
  const state = events.findLast((event) => "state" in event)?.state;
  return { messages, state: state && (JSON.parse(JSON.stringify(state)) as RunState) };
}

const call = fc.constantFrom<ScriptedCall>(
  { name: "add", arguments: '{"a":1,"b":2}' },
  { name: "add", arguments: '{"a":3,"b":4}' },
  { name: "add", arguments: '{"a":"x"}' },
  { name: "nowhere", arguments: "{}" },
);
const script = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: fc.array(call, { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constant([{ name: "theirs", arguments: "{}" }]) },
  ),
  { maxLength: 8 },
);
const limits = fc.record({
  maxToolIterations: fc.option(fc.nat(5), { nil: undefined }),
  maxToolCalls: fc.option(fc.nat(5), { nil: undefined }),
  maxRepeats: fc.integer({ min: 1, max: 3 }),
  asksForFinalAnswer: fc.boolean(),
  parallelToolCalls: fc.boolean(),
});
const habits = fc.record({ reusesIds: fc.boolean(), endsRun: fc.boolean() });

describe("a run that stops after any event", () => {
  test("ends as if it had not stopped", async () => {
    await fc.assert(
      fc.asyncProperty(script, limits, habits, async (answers, limit, { reusesIds, endsRun }) => {
        const { maxToolIterations, maxToolCalls, ...given } = limit;
        const options: LoopOptions = {
          model: modelOf(answers, { reusesIds }),
          tools: [add, theirs],
          decideCall: ({ tool: it, rejection }) => {
            if (rejection) return { type: "reject", ...rejection, endsRun };
            return it === theirs ? { type: "leave" } : undefined;
          },
          ...given,
          ...(maxToolIterations !== undefined && { maxToolIterations }),
          ...(maxToolCalls !== undefined && { maxToolCalls }),
        };
        const whole = await eventsOf(prompt, options);
        const expected = { ...afterCrash(whole), end: last(whole) };
        for (let count = 0; count < whole.length; count += 1) {
          const before = afterCrash(whole.slice(0, count));
          const rest = await eventsOf([...prompt, ...before.messages], {
            ...options,
            ...(before.state && { state: before.state }),
          });
          const after = afterCrash(rest);
          expect({
            messages: [...before.messages, ...after.messages],
            state: after.state,
            end: last(rest),
          }).toEqual(expected);
        }
      }),
      { numRuns: 150 },
    );
  });
});

test.each([{}, { version: 2, answers: 0 }, { version: 1, answers: -1 }, "state", null])(
  "a run refuses %j as a state",
  (state) => {
    const options = { model: modelOf([]), state: state as never };
    expect(() => run(prompt, options)).toThrow("state");
  },
);
