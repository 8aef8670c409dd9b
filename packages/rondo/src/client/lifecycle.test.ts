// The state machine of a client: any sequence of method calls leaves a valid conversation, and nothing hangs.

import assert from "node:assert/strict";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Client, type ClientOptions, type Message, RondoError, setLogger, tool } from "../index.ts";
import { type ScriptedStep, scriptedModel } from "../testing/index.ts";
import { flawsOf } from "../testkit/flaws-of.ts";
import type { Block } from "./blocks.ts";

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const slow = tool(
  { name: "slow", description: "Waits.", input: {}, registry: false },
  async (_input, { signal }) => {
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(signal.reason));
    setTimeout(reject, 2, new Error("too slow"));
    return promise;
  },
);

const call = fc.constantFrom(
  { name: "add", input: { a: 1, b: 2 } },
  { name: "slow", input: {} },
  { name: "add", input: { a: "one" } },
  { name: "unknown", input: {} },
);
const answerCall = fc.constantFrom(
  { name: "final_answer", input: { sum: 3 } },
  { name: "final_answer", input: { sum: "three" } },
);
const answer = (calls: fc.Arbitrary<object>): fc.Arbitrary<ScriptedStep> =>
  fc.record(
    {
      text: fc.constantFrom("", "Text.", ["Text ", "in ", "pieces."]),
      calls: fc.array(calls, { maxLength: 3 }),
      error: fc.option(fc.constant(new Error("dropped")), { nil: undefined, freq: 9 }),
    },
    { requiredKeys: ["text", "calls"] },
  ) as fc.Arbitrary<ScriptedStep>;

/** What is done, and how often in relation to the others. */
const weights = {
  query: 4,
  continue: 4,
  receive: 4,
  next: 4,
  "next call": 4,
  "next of the first loop": 2,
  "receive all": 2,
  leave: 1,
  answer: 6,
  "answer ours": 2,
  "answer unknown": 1,
  interrupt: 1,
  close: 1,
  "clear history": 1,
} as const;
type Step = keyof typeof weights;
const step = fc.oneof(
  ...Object.entries(weights).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as Step) })),
);

/** A client with what is known of it from outside. */
class Driver {
  readonly client: Client;
  loops: AsyncIterableIterator<Block>[] = [];

  constructor(
    script: readonly ScriptedStep[],
    options: Partial<ClientOptions>,
    outputMode: "native" | "tool",
  ) {
    // Once the script is used up, every answer is text.
    let index = 0;
    const model = scriptedModel(() => (script[index++] ?? "Done.") as never, { profile: { outputMode } });
    this.client = new Client({ model, tools: [add, slow], ...options });
  }

  /** What can be seen of a client; a refused call must not change it. */
  get visible() {
    const { history, openCalls, result, usage, turnMetadata } = this.client;
    return { history, openCalls, result, usage, turnMetadata };
  }

  /** An open call that Rondo answers. */
  get openOurs(): string | undefined {
    const open = this.client.openCalls.map(({ id }) => id);
    return openIn(this.client.history).find((id) => !open.includes(id));
  }

  async nextCall(loop: AsyncIterator<Block> | undefined): Promise<IteratorResult<Block> | undefined> {
    let block = await loop?.next();
    while (block && !block.done && block.value.type !== "tool_use") block = await loop?.next();
    return block;
  }

  async run(step: Step): Promise<unknown> {
    const { client } = this;
    switch (step) {
      case "query":
        return client.query("Go on");
      case "continue":
        return client.query("");
      case "receive":
        this.loops.push(client.receiveMessages());
        return this.run("next");
      case "next":
        return this.loops.at(-1)?.next();
      case "next of the first loop":
        return this.loops[0]?.next();
      case "next call":
        return this.nextCall(this.loops.at(-1));
      case "receive all":
        return Array.fromAsync(client.receiveMessages());
      case "leave":
        return this.loops.pop()?.return?.();
      case "answer":
        for (const { id } of client.openCalls) await client.addToolResult(id, "answered");
        return undefined;
      case "answer ours":
        return this.openOurs !== undefined && client.addToolResult(this.openOurs, "answered");
      case "answer unknown":
        return client.addToolResult("nobody", "answered");
      case "clear history":
        client.messageHistory = [];
        return undefined;
      default:
        return client[step]();
    }
  }

  /** Ends everything, and proves that the client is in order and can be used again. */
  async finish(failures: number): Promise<void> {
    const { client } = this;
    await client.interrupt();
    for (const loop of this.loops) await loop.next().catch(() => {});
    for (const { id } of client.openCalls) await client.addToolResult(id, "late"); // those of a loop that was left
    assert.deepEqual(flawsOf(client.history), []);
    for (let tries = 0; tries <= failures; tries += 1)
      try {
        await client.query("The last one");
        await Array.fromAsync(client.receiveMessages());
        for (const { id } of client.openCalls) await client.addToolResult(id, "late");
        break;
      } catch (error) {
        assert.match(String(error), /dropped|does not fit the output schema/);
      }
    assert.deepEqual(flawsOf(client.history), []);
  }
}

const refusals = ["unsafe_execution", "unanswered_tool_calls", "unknown_tool_call", "invalid_argument"];

const codeOf = (error: unknown) => (error instanceof RondoError ? error.code : String(error));

/** The calls without an answer, which must all be calls of the last answer. */
function openIn(history: readonly Message[]): string[] {
  const start = history.findLastIndex(({ role }) => role === "assistant");
  const answered = new Set(history.map((message) => (message.role === "tool" ? message.tool_call_id : "")));
  const last = history[start];
  const calls = last?.role === "assistant" ? (last.tool_calls ?? []) : [];
  return calls.map(({ id }) => id).filter((id) => !answered.has(id));
}

test("leaving the loop also ends the run that continues the one it was left in", async () => {
  using model = scriptedModel([{ calls: [{ name: "add", input: { a: 1, b: 2 } }] }, "Three.", "Now."]);
  const client = new Client({ model, tools: [add] });
  await client.query("1 + 2?");
  for await (const block of client.receiveMessages()) {
    if (block.type !== "tool_use") continue;
    await client.addToolResult(block.id, 3);
    await client.query("");
    break;
  }
  expect(await Array.fromAsync(client.receiveMessages())).toEqual([]);
  await client.query("And now?");
});

describe("one method after the other", () => {
  test("each does what its state says, and one that is refused changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer(call), { minLength: 1, maxLength: 8, size: "max" }),
        fc.array(step, { maxLength: 40, size: "max" }),
        fc.boolean(),
        async (script, sequence, autoExecuteTools) => {
          const driver = new Driver(script, { autoExecuteTools, maxTurns: 100 }, "native");
          const { client } = driver;
          let state: "new" | "idle" | "running" = "new";
          /** Where the run under way begins in history, and the loop that receives it. */
          let start = 0;
          let receiver: unknown;
          /** Whether the answer under way has calls that the user answers. */
          const awaitsUser = () => {
            const last = client.history.slice(start).findLast(({ role }) => role === "assistant");
            const calls = last?.role === "assistant" ? (last.tool_calls ?? []) : [];
            const canRun = ({ function: { name, arguments: text } }: (typeof calls)[number]) =>
              name === "slow" || (name === "add" && !text.includes("one"));
            return !autoExecuteTools && calls.some(canRun);
          };
          /** The code of the error that the documentation promises. */
          const refusal = (step: Step): string | undefined => {
            switch (step) {
              case "query":
              case "continue":
                if (state === "running" && !(step === "continue" && awaitsUser())) return "unsafe_execution";
                if (client.openCalls.length > 0) return "unanswered_tool_calls";
                return step === "continue" && client.history.length === 0 ? "invalid_argument" : undefined;
              case "receive":
              case "receive all":
                return state === "new" || (state === "running" && receiver) ? "unsafe_execution" : undefined;
              case "answer unknown":
                return "unknown_tool_call";
              case "answer ours":
                return driver.openOurs === undefined ? undefined : "unknown_tool_call";
              case "clear history":
                return state === "running" ? "unsafe_execution" : undefined;
              default:
                return undefined;
            }
          };
          for (const step of ["query", ...sequence] as const) {
            const expected = refusal(step);
            const before = driver.visible;
            let result: unknown;
            let code: unknown;
            try {
              result = await driver.run(step);
            } catch (error) {
              code = codeOf(error);
            }
            assert.deepEqual([step, code === "Error: dropped" ? undefined : code], [step, expected]);
            if (refusals.includes(String(code))) {
              assert.deepEqual(driver.visible, before);
              if (step === "receive") driver.loops.pop();
              continue;
            }
            const loop = step === "next of the first loop" ? driver.loops[0] : driver.loops.at(-1);
            const isOver = code !== undefined || (result as { done?: boolean } | undefined)?.done;
            if (step === "query" || step === "continue") {
              if (code !== undefined) assert.deepEqual(driver.visible, before);
              else {
                if (state !== "running") receiver = undefined;
                state = "running";
                start = before.history.length;
              }
            } else if (step === "receive" && state === "running") receiver = loop;
            const stops = step === "interrupt" || step === "close";
            if (stops && state === "running") assert.deepEqual(client.openCalls, []);
            const ends =
              step === "receive all" ||
              stops ||
              (/^(receive|next)/.test(step) && isOver && receiver === loop);
            const leaves = step === "leave" && !driver.loops.includes(receiver as never);
            if (state === "running" && (ends || (leaves && receiver))) {
              state = "idle";
              receiver = undefined;
            }
            // Open calls are reported, unless Rondo still answers them in a run under way.
            if (state !== "running")
              assert.deepEqual(
                client.openCalls.map(({ id }) => id),
                openIn(client.history),
              );
          }
          await driver.finish(script.length);
        },
      ),
      { numRuns: 500 },
    );
  }, 120_000);
});

describe("methods that overlap", () => {
  test("end, keep the conversation valid, and fail only with documented errors", async () => {
    const overlapping = fc.record({ step, isAwaited: fc.boolean(), ticks: fc.nat(4) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer(fc.oneof(call, answerCall)), { minLength: 1, maxLength: 8, size: "max" }),
        fc.array(overlapping, { maxLength: 40, size: "max" }),
        fc.boolean(),
        fc.boolean(),
        async (script, sequence, autoExecuteTools, hasOutput) => {
          const output = { sum: Number };
          const options = { autoExecuteTools, ...(hasOutput && { output }) };
          const driver = new Driver(script, options, "tool");
          const pending: Promise<unknown>[] = [];
          const allowed = [...refusals, "invalid_output", "Error: dropped"];
          const run = (name: Step) =>
            driver
              .run(name)
              .catch((error: unknown) => assert.ok(allowed.includes(codeOf(error)), String(error)));
          for (const { step: name, isAwaited, ticks } of sequence) {
            const running = run(name);
            pending.push(running);
            if (isAwaited) await running;
            for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
            const open = openIn(driver.client.history);
            assert.deepEqual(
              flawsOf(driver.client.history),
              open.map((id) => `no answer to ${id}`),
            );
          }
          await run("interrupt"); // also reports an error of the model that it cut short
          await Promise.all(pending);
          await driver.finish(script.length);
        },
      ),
      { numRuns: 500 },
    );
  }, 120_000);
});
