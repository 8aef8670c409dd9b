import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Agent, defaultRegistry, setLogger, Turn, tool } from "../index.ts";
import { add, count } from "./testkit/agent-kit.ts";

// Counted, not timed: what 100,000 turns leave behind must not depend on how many there were.

beforeEach(() => setLogger({ warn: () => {} }));
afterEach(() => setLogger());

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const heldBytes = async (): Promise<number> => {
  // Twice, with a turn of the event loop between: finalizers and timers let go of the rest.
  for (let pass = 0; pass < 2; pass += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  return process.memoryUsage().heapUsed;
};

const activeTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

const locked = tool(
  { name: "locked", description: "Locked.", lock: true, registry: false },
  async () => "done",
);
const hang = tool(
  { name: "hang", description: "Hangs.", timeoutMs: 1, registry: false },
  async (_input, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    }),
);
const fail = tool("fail", "Fails.", {}, () => {
  throw new Error("broken");
});

/** One run of many turns, with a turn among them that ends in each way there is. */
async function runBatch(agent: Agent, turns: number, signal: AbortSignal): Promise<number> {
  let values = 0;
  for (let n = 0; n < turns; n += 1) {
    const kind = n % 1000;
    if (kind === 0) await agent.put(new Turn(hang));
    else if (kind === 1) await agent.put(new Turn(fail));
    else if (kind % 10 === 2) await agent.put(new Turn(count, { to: 2 }));
    else if (kind % 10 === 3) await agent.put(new Turn(locked));
    else await agent.put(new Turn(add, { a: n, b: 1 }));
  }
  while (agent.turns.length > 0) {
    try {
      for await (const _ of agent.run({ signal })) {
        values += 1;
        if (values % 997 === 0) break; // leaves a run in the middle
      }
    } catch {
      // The turns that hang and fail end the run; the rest is still queued.
    }
  }
  return values;
}

test("100,000 turns through one agent, some timed out, failed or left, leave nothing behind", async () => {
  const agent = new Agent({ name: "worker", tools: [add, count, locked, hang, fail], registry: false });
  const { signal } = new AbortController();
  const batch = 10_000;
  const timersBefore = activeTimers();
  await runBatch(agent, batch, signal); // warms up what is compiled and cached once
  const before = await heldBytes();
  let values = 0;
  for (let done = 0; done < 100_000; done += batch) values += await runBatch(agent, batch, signal);
  const grown = (await heldBytes()) - before;

  expect(values).toBeGreaterThan(100_000);
  expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(activeTimers()).toBeLessThanOrEqual(timersBefore);
  expect(agent.isRunning).toBe(false);
  // A leak of one small object per turn would be several megabytes.
  expect(grown).toBeLessThan(1_500_000);
}, 120_000);

test("aborted runs and aborted waits for a lock leave no listener and no timer", async () => {
  const timersBefore = activeTimers();
  const { signal } = new AbortController();
  const gate = Promise.withResolvers<void>();
  const guarded = tool(
    { name: "guarded", description: "Locked.", lock: true, registry: false },
    async () => gate.promise,
  );
  const holder = guarded.execute({}, { signal });
  const controllers = Array.from({ length: 200 }, () => new AbortController());
  const waiting = controllers.map((controller) => guarded.execute({}, { signal: controller.signal }));
  await Promise.resolve();
  for (const controller of controllers) controller.abort(new Error("enough"));
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
  for (const controller of controllers) expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  gate.resolve();
  await holder;
  expect(getEventListeners(signal, "abort")).toEqual([]);
  expect(activeTimers()).toBeLessThanOrEqual(timersBefore);
});

test("an agent per request leaves nothing in any registry", async () => {
  const before = [defaultRegistry.agents.all().length, defaultRegistry.hooks.all().length];
  for (let request = 0; request < 1_000; request += 1) {
    using registered = new Agent({ name: "request", tools: [add] });
    const unregistered = new Agent({ name: "request", tools: [add], registry: false });
    for (const agent of [registered, unregistered]) {
      agent.onComplete(async () => {});
      await agent.put(new Turn(add, { a: request, b: 1 }));
      for await (const _ of agent.run());
    }
  }
  expect([defaultRegistry.agents.all().length, defaultRegistry.hooks.all().length]).toEqual(before);
});
