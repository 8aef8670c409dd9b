// A process may die at any commit: whoever goes on from the store loses nothing and does nothing twice.

import fc from "fast-check";
import type { JsonObject, Message } from "rondo";
import { estimateTokens } from "rondo/budget";
import { describe, expect, test } from "vitest";
import { streamFlaws } from "../conformance/testkit/stream-checker.ts";
import type { StreamEvent } from "../protocol/events.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { openStore } from "../store/open-store.ts";
import { testDatabase } from "../store/postgres/testkit/test-database.ts";
import type { Step, StoredRun } from "../store/store.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import {
  type CrashResult,
  type CrashScript,
  type CrashSetup,
  type Cut,
  type Disk,
  memoryDisk,
  runWithCrashes,
} from "./testkit/crash.ts";
import { toFrames } from "./testkit/service.ts";

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const call = (id: number, name: string, n: number) => ({ id: `call_${id}`, name, input: { n } });

const setups: Record<string, CrashSetup> = {
  "an answer with a thought": {
    script: [{ thinking: ["Hm", "m."], text: ["One", " two", " three"], usage }],
  },
  "parallel calls": {
    script: [
      {
        thinking: ["I pay."],
        text: ["A moment"],
        calls: [call(0, "pay", 1), call(1, "look", 2), call(2, "pay", 3), call(3, "look", 5)],
        usage,
      },
      { thinking: ["So"], text: ["Paid", " all."], usage },
    ],
  },
  "calls one after the other": {
    script: [
      { calls: [call(0, "look", 1), call(1, "pay", 2), call(2, "look", 3)], usage },
      { text: ["Done."], usage },
    ],
    body: { parallel_tool_calls: false },
  },
  "several turns with the same call ids": {
    script: [
      { text: ["First"], calls: [call(0, "pay", 1)], usage },
      { thinking: ["Then"], calls: [call(0, "look", 2)], usage },
      { calls: [call(0, "pay", 4)], usage },
      { text: ["End", "."], usage },
    ],
  },
  "a mixed turn": {
    script: [
      { calls: [call(0, "look", 1)], usage },
      {
        text: ["Both"],
        calls: [call(0, "weather", 7), call(1, "pay", 2), call(2, "weather", 8), call(3, "look", 3)],
        usage,
      },
    ],
  },
  "calls that fail": {
    script: [
      {
        calls: [
          call(0, "fail", 1),
          call(1, "nobody", 2),
          call(2, "pay", 3),
          { id: "call_3", name: "pay", input: { n: "x" } },
        ],
        usage,
      },
      { text: ["Sorry."], usage },
    ],
  },
  "a call that was cut off": {
    script: [
      {
        calls: [
          call(0, "look", 1),
          { id: "call_1", name: "wipe", arguments: ['{"path":"/tm'], isTruncated: true },
        ],
        usage,
      },
      { text: ["Sorry."], usage },
    ],
  },
  "a model that fails": {
    script: [
      { calls: [call(0, "pay", 1)], usage },
      { thinking: ["Hm"], text: ["Half"], error: new Error("broken") },
    ],
  },
  "a filtered answer": { script: [{ text: ["Half", " of"], finishReason: "content_filter", usage }] },
  "an answer that is too long": { script: [{ text: ["Half", " of"], finishReason: "length", usage }] },
  "the limit of turns": {
    script: Array.from({ length: 4 }, (_, n) => ({
      calls: [call(0, "pay", n), call(1, "look", n + 10)],
      usage,
    })),
    body: { max_agentic_turns: 3 },
  },
  "the limit of calls": {
    script: [
      { calls: [call(0, "look", 1), call(1, "pay", 2)], usage },
      { calls: [call(0, "look", 3)], usage },
      { calls: [call(0, "look", 4)], usage },
    ],
    body: { max_tool_calls: 3 },
  },
  "a batch that is larger than the limit of calls": {
    script: [
      { calls: [call(0, "look", 1)], usage },
      { calls: [call(0, "look", 2), call(1, "pay", 3), call(2, "pay", 4), call(3, "look", 5)], usage },
    ],
    body: { max_tool_calls: 3 },
  },
  "such a batch one by one, before a final answer": {
    script: [
      { calls: [call(0, "pay", 1), call(1, "look", 2), call(2, "look", 3), call(3, "pay", 4)], usage },
      { text: ["As far", " as I know."], usage },
    ],
    body: { max_tool_calls: 2, parallel_tool_calls: false },
    asksForFinalAnswer: true,
  },
  "a mixed last turn": {
    script: [
      { calls: [call(0, "look", 1)], usage },
      { calls: [call(0, "weather", 2), call(1, "pay", 3), call(2, "look", 4), call(3, "pay", 5)], usage },
    ],
    body: { max_agentic_turns: 2, max_tool_calls: 3 },
  },
  "a final answer at the limit of calls": {
    script: [
      { calls: [call(0, "look", 1), call(1, "look", 2)], usage },
      { calls: [call(0, "look", 3)], usage },
      { text: ["As far", " as I know."], usage },
    ],
    body: { max_tool_calls: 2 },
    asksForFinalAnswer: true,
  },
  "a final answer at the limit of turns": {
    script: [
      { calls: [call(0, "look", 1)], usage },
      { calls: [call(0, "pay", 2)], usage },
      { text: ["As far", " as I know."], calls: [call(0, "look", 3)], usage },
    ],
    body: { max_agentic_turns: 2 },
    asksForFinalAnswer: true,
  },
  "a forced call": {
    script: [
      { calls: [call(0, "look", 1)], usage },
      { text: ["Seen."], usage },
    ],
    body: { tool_choice: { type: "function", name: "look" } },
  },
  "no call allowed": {
    script: [{ text: ["Would"], calls: [call(0, "look", 1), call(1, "weather", 2)], usage }],
    body: { tool_choice: "none" },
  },
};

// Hundreds of runs each: on a busy machine that takes its time.
describe.each(Object.entries(setups))("%s", { timeout: 60_000 }, (_name, setup) => {
  test("ends as if nothing had happened, at whichever commit the process dies", async () => {
    const whole = await runWithCrashes(setup, []);
    let at = 1;
    for (let isOver = false; !isOver; at += 1) {
      for (const isKept of [false, true]) {
        const cut = await runWithCrashes(setup, [{ at, isKept }]);
        expect({ at, isKept, flaws: await flawsOf(cut, whole, setup.script) }).toEqual({
          at,
          isKept,
          flaws: [],
        });
        isOver = cut.cuts === 0;
      }
    }
    expect(at).toBeGreaterThan(3);
  });

  test("ends as if nothing had happened when it was begun by the first version", async () => {
    const whole = await runWithCrashes(setup, []);
    for (let at = 1, isOver = false; !isOver; at += 1) {
      const cut = await runWithCrashes(setup, [{ at, isKept: true }], firstVersionDisk());
      expect({ at, flaws: await flawsOf(cut, whole, setup.script) }).toEqual({ at, flaws: [] });
      isOver = cut.cuts === 0;
    }
  });

  test("ends as if nothing had happened, however often the processes die", async () => {
    const whole = await runWithCrashes(setup, []);
    const cut = fc.record({ at: fc.integer({ min: 1, max: 12 }), isKept: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { minLength: 2, maxLength: 5 }), async (cuts: Cut[]) => {
        const result = await runWithCrashes(setup, cuts);
        expect(await flawsOf(result, whole, setup.script)).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});

test("ends as if nothing had happened on PostgreSQL, at whichever commit the node dies", {
  timeout: 60_000,
}, async () => {
  const setup = setups["parallel calls"];
  if (!setup) throw new Error("There is no such setup.");
  const url = await testDatabase();
  const whole = await runWithCrashes(setup, []);
  let at = 1;
  for (let isOver = false; !isOver; at += 1)
    for (const isKept of [false, true]) {
      await using disk = await postgresDisk(url);
      const cut = await runWithCrashes(setup, [{ at, isKept }], disk);
      const flaws = await flawsOf(cut, whole, setup.script);
      expect({ at, isKept, flaws }).toEqual({ at, isKept, flaws: [] });
      await cut.service.drain(0);
      isOver = cut.cuts === 0;
    }
  expect(at).toBeGreaterThan(3);
});

/** A database, of which each process is a node. */
async function postgresDisk(url: string): Promise<Disk & AsyncDisposable> {
  let store = await openStore(url);
  return {
    store,
    restart: async () => {
      await store.close();
      store = await openStore(url);
      return store;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

/** A disk whose next process finds the steps as the first version of the server wrote them. */
function firstVersionDisk(): Disk {
  const disk = memoryDisk();
  return {
    ...disk,
    restart: async () =>
      storeAround(await disk.restart(), async (method, call) => {
        const result = await call();
        if (method !== "resume") return result;
        const run = result as StoredRun;
        return { ...run, steps: run.steps.map(toFirstVersion) };
      }),
  };
}

function toFirstVersion({ version: _version, state, ...step }: Step): Step {
  if (step["type"] !== "answer") return step;
  const { answer = null, ...rest } = step;
  const { finishReason = null } = state as JsonObject;
  return { ...rest, type: "turn", turn: answer, finishReason };
}

/** What is not as it must be after a crash. `whole` is the same run without one. */
async function flawsOf(cut: CrashResult, whole: CrashResult, script: CrashScript): Promise<string[]> {
  const flaws = [...streamFlaws(toFrames(cut.events))];
  const claim = (isRight: boolean, what: string) => {
    if (!isRight) flaws.push(what);
  };
  const { response } = cut;
  const kept = await cut.service.get("ada", response.id);
  claim(
    isSame(kept, response),
    `the store has ${JSON.stringify(kept)}, the stream said ${JSON.stringify(response)}`,
  );
  for (const key of ["status", "incomplete_details", "error"] as const)
    claim(isSame(response[key], whole.response[key]), `${key} is ${JSON.stringify(response[key])}`);
  claim(
    isSame(response.usage, expectedUsage(cut, whole)),
    `usage is ${JSON.stringify(response.usage)} instead of ${JSON.stringify(expectedUsage(cut, whole))}`,
  );

  const names = new Map(
    script.flatMap(({ calls = [] }) =>
      calls.map(({ name, input }) => [(input as { n: number } | undefined)?.n, name]),
    ),
  );
  for (const [n, runs] of Object.entries(Object.groupBy(cut.executions, (run) => run.n))) {
    const isIdempotent = names.get(Number(n)) === "look";
    claim(isIdempotent || runs?.length === 1, `${n} was run ${runs?.length} times`);
    claim(new Set(runs?.map(({ key }) => key)).size === 1, `${n} was run under several keys`);
  }
  const wasRun = new Set(whole.executions.map(({ n }) => n));
  for (const { n } of cut.executions) claim(wasRun.has(n), `${n} was run, which is not run without a crash`);
  for (const [process, log] of cut.logs.entries())
    for (const n of finishedCalls(log))
      claim(
        !cut.executions.some((run) => run.n === n && run.process > process),
        `${n} was run again after it had been finished`,
      );

  const lastCut = asked(cut)?.messages ?? [];
  const unknown = lastCut.filter(isUnknown);
  claim(cut.cuts > 0 || unknown.length === 0, "an outcome is unknown, but no process was cut");
  claim(!unknown.some((it) => it.name === "look"), "what may be run twice was not run again");
  claim(
    isSame(plainly(lastCut), plainly(asked(whole)?.messages ?? [], lastCut)),
    `the model was last told ${JSON.stringify(lastCut)}`,
  );
  claim(
    isSame(asked(cut)?.toolChoice ?? "auto", asked(whole)?.toolChoice ?? "auto"),
    `tool choice ${JSON.stringify(asked(cut)?.toolChoice)}`,
  );

  const next = await nextMessages(cut);
  const nextOfWhole = await nextMessages(whole);
  claim(
    isSame(plainly(next), plainly(nextOfWhole, next)),
    `the next request would say ${JSON.stringify(next)} instead of ${JSON.stringify(nextOfWhole)}`,
  );
  return flaws;
}

/**
 * What the run without a crash has. Only an estimate counts the words that the model read, and an outcome that nobody
 * knows has other words than the result: by so many tokens it differs.
 */
function expectedUsage(cut: CrashResult, whole: CrashResult): ResponseObject["usage"] {
  const { usage } = whole.response;
  if (!usage?.estimated) return usage;
  const more = estimateTokens(asked(cut)?.messages ?? []) - estimateTokens(asked(whole)?.messages ?? []);
  return {
    ...usage,
    input_tokens: usage.input_tokens + more,
    total_tokens: usage.total_tokens + more,
  };
}

/** The last request to the model. */
function asked({ models }: CrashResult) {
  return models.flatMap((model) => model.requests).at(-1);
}

/** The `n` of the calls that the log shows as done. */
function finishedCalls(log: readonly StreamEvent[]): number[] {
  return log.flatMap((event) =>
    event.type === "response.output_item.done" && event.item.type === "mcp_call" && event.item.output !== null
      ? [(JSON.parse(event.item.arguments) as { n: number }).n]
      : [],
  );
}

/** What the model would read with the next request of this conversation. */
async function nextMessages({ service, response }: CrashResult): Promise<readonly Message[]> {
  const outputs = response.output.flatMap((item) =>
    item.type === "function_call"
      ? [{ type: "function_call_output", call_id: item.call_id, output: `weather of ${item.arguments}` }]
      : [],
  );
  const input = [...outputs, { role: "user", content: "And now?" }];
  const body = { model: "test", previous_response_id: response.id, input };
  return (await service.prepare("ada", body)).planned.plan.messages;
}

/** Messages without what is different each time: ids, and, where `other` does not know an outcome, that outcome. */
function plainly(messages: readonly Message[], other: readonly Message[] = messages) {
  const ids = new Map<string, number>();
  const place = (id: string) => {
    if (!ids.has(id)) ids.set(id, ids.size);
    return ids.get(id);
  };
  return messages.map((message, index) => {
    if (message.role === "assistant")
      return {
        ...message,
        tool_calls: message.tool_calls?.map((it) => ({ ...it, id: place(it.id) })),
      };
    if (message.role !== "tool") return message;
    const content = isUnknown(other[index]) ? "unknown" : message.content.replace(refused, "Refused.");
    return { ...message, tool_call_id: place(message.tool_call_id), content };
  });
}

/** What a model is told of calls in its final answer, and of one that was cut off. */
const refused =
  /No tool may be used any more\.|Tool '\w+' is not allowed\. The tools are: none\.|(?:The arguments of 'wipe' were cut off|Tool use blocked: this call was refused).*?(?=","tool"|$)/;

function isUnknown(message: Message | undefined): message is Extract<Message, { role: "tool" }> {
  return message?.role === "tool" && message.content.includes("Whether it has done its work is not known");
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
