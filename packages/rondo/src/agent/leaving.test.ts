import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Agent, ContextItem, Registry, setLogger, Turn, tool } from "../index.ts";
import { valuesOf } from "../testkit/values-of.ts";
import { add } from "./testkit/agent-kit.ts";

let registry = new Registry();
let warnings: string[] = [];
beforeEach(() => {
  registry = new Registry();
  warnings = [];
  setLogger({ warn: (message) => warnings.push(message) });
});
afterEach(() => setLogger());

/** A tool that waits until it is aborted, and notes when. */
function waitingTool(log: string[]) {
  return tool("wait", "Waits.", {}, async (_input, { signal }) => {
    log.push("started");
    await new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    }).finally(() => log.push("aborted"));
  });
}

test("leaving while a tool runs aborts it, cancels the turn, runs its hooks, and frees the agent", async () => {
  const log: string[] = [];
  const wait = waitingTool(log);
  const agent = new Agent({ name: "worker", tools: [wait, add], registry });
  const turn = new Turn(wait);
  turn.onError(async () => log.push("onError"));
  agent.onComplete(async (_turn, stopReason) => log.push(`onComplete ${stopReason}`));
  wait.onError(async () => log.push("tool.onError"));
  await agent.put(turn);
  await agent.put(new Turn(add, { a: 1, b: 2 }));

  const run = agent.run();
  const pending = run.next();
  await new Promise<void>((resolve) => {
    turn.beforeRun(async () => resolve());
  });
  await run.return();

  expect(log.filter((entry) => entry !== "started")).toEqual(
    log.includes("started") ? ["aborted", "onComplete cancelled"] : ["onComplete cancelled"],
  );
  expect((await pending).done).toBe(true);
  expect(turn.stopReason).toBe("cancelled");
  expect(turn.isRunning).toBe(false);
  expect(agent.isRunning).toBe(false);
  expect(agent.currentTurn).toBeNull();
  // The interrupted turn is dropped, the rest is still there, and the agent can be used at once.
  expect(await valuesOf(agent.run())).toEqual([3]);
});

test("a break out of a stream closes the generator before the loop continues", async () => {
  const log: string[] = [];
  const endless = tool("endless", "Counts.", {}, async function* () {
    try {
      for (let n = 0; ; n += 1) yield n;
    } finally {
      log.push("closed");
    }
  });
  const agent = new Agent({ name: "worker", tools: [endless], registry });
  const turn = new Turn(endless);
  turn.onComplete(async (_turn, stopReason) => log.push(stopReason));
  await agent.put(turn);
  for await (const [, value] of agent.run()) if (value === 2) break;
  expect(log).toEqual(["closed", "cancelled"]);
  expect(turn.output).toEqual([0, 1, 2]);
  expect(agent.isRunning).toBe(false);
});

test("a break after a single value raises nothing, and the turn stays completed", async () => {
  const agent = new Agent({ name: "worker", tools: [add], registry });
  const turn = new Turn(add, { a: 1, b: 2 });
  await agent.put(turn);
  for await (const _ of agent.run()) break;
  expect(turn.stopReason).toBe("completed");
  expect(await valuesOf(agent.run())).toEqual([]);
});

test("an error in the loop's body leaves the run like a break", async () => {
  const log: string[] = [];
  const endless = tool("endless", "Counts.", {}, async function* () {
    try {
      for (let n = 0; ; n += 1) yield n;
    } finally {
      log.push("closed");
    }
  });
  const agent = new Agent({ name: "worker", tools: [endless], registry });
  await agent.put(new Turn(endless));
  const broken = (async () => {
    for await (const _ of agent.run()) throw new Error("mine");
  })();
  await expect(broken).rejects.toThrow("mine");
  expect(log).toEqual(["closed"]);
  expect(agent.isRunning).toBe(false);
});

test("`await using` leaves the run at the end of the block", async () => {
  const log: string[] = [];
  const wait = waitingTool(log);
  const agent = new Agent({ name: "worker", tools: [wait], registry });
  const turn = new Turn(wait);
  await agent.put(turn);
  let pending: Promise<unknown>;
  {
    await using run = agent.run();
    pending = run.next();
    await expect.poll(() => log).toEqual(["started"]);
  }
  expect(log).toEqual(["started", "aborted"]);
  expect(turn.stopReason).toBe("cancelled");
  await pending;
});

test("an abort from outside rejects with its reason, cancels the turn and leaves no listener", async () => {
  const log: string[] = [];
  const wait = waitingTool(log);
  const agent = new Agent({ name: "worker", tools: [wait], registry });
  const turn = new Turn(wait);
  await agent.put(turn);
  const controller = new AbortController();
  const run = valuesOf(agent.run({ signal: controller.signal }));
  await expect.poll(() => log).toEqual(["started"]);
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(run).rejects.toBe(reason);
  expect(turn.stopReason).toBe("cancelled");
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("an abort ends a run that waits for work", async () => {
  const agent = new Agent({ name: "worker", tools: [add], registry });
  const controller = new AbortController();
  const run = valuesOf(agent.run({ signal: controller.signal, wait: true }));
  await agent.put(new Turn(add, { a: 1, b: 2 }));
  await expect.poll(() => agent.turns.length).toBe(0);
  controller.abort(new Error("closing"));
  await expect(run).rejects.toThrow("closing");
  expect(agent.isRunning).toBe(false);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("a signal that is aborted already starts nothing", async () => {
  const agent = new Agent({ name: "worker", tools: [add], registry });
  await agent.put(new Turn(add, { a: 1, b: 2 }));
  await expect(valuesOf(agent.run({ signal: AbortSignal.abort(new Error("too late")) }))).rejects.toThrow(
    "too late",
  );
  expect(agent.turns).toHaveLength(1);
});

test("a tool that ignores its signal cannot hold the run: it is left behind with a warning", async () => {
  const { promise: never } = Promise.withResolvers<void>();
  let started = false;
  const deaf = tool("deaf", "Hears nothing.", {}, async () => {
    started = true;
    await never;
  });
  const agent = new Agent({ name: "worker", tools: [deaf, add], registry });
  const turn = new Turn(deaf);
  await agent.put(turn);
  await agent.put(new Turn(add, { a: 1, b: 2 }));
  const run = agent.run({ graceMs: 5 });
  const pending = run.next();
  await expect.poll(() => started).toBe(true);
  await run.return();
  await pending;
  expect(turn.stopReason).toBe("cancelled");
  expect(warnings).toEqual([
    expect.stringContaining("The tool 'deaf' was aborted but did not stop within 5 ms"),
  ]);
  expect(await valuesOf(agent.run())).toEqual([3]);
});

test("an onComplete hook that throws on the way out is heard, and the agent is free", async () => {
  const endless = tool("endless", "Counts.", {}, async function* () {
    for (let n = 0; ; n += 1) yield n;
  });
  const agent = new Agent({ name: "worker", tools: [endless], registry });
  agent.onComplete(async () => {
    throw new Error("hook failed");
  });
  await agent.put(new Turn(endless));
  const left = (async () => {
    for await (const _ of agent.run()) break;
  })();
  await expect(left).rejects.toThrow("hook failed");
  expect(agent.isRunning).toBe(false);
});

test("hanging hooks cannot hold a run that is left or aborted", async () => {
  const endless = tool("endless", "Counts.", {}, async function* () {
    for (let n = 0; ; n += 1) yield n;
  });
  const hang = async () => {
    await new Promise(() => {});
  };
  const agent = new Agent({ name: "worker", tools: [endless, add], registry });
  const turn = new Turn(endless);
  const hanging = turn.onComplete(hang);
  await agent.put(turn);
  for await (const _ of agent.run({ graceMs: 5 })) break;
  expect([agent.isRunning, turn.isRunning, turn.stopReason]).toEqual([false, false, "cancelled"]);
  expect(warnings).toEqual([expect.stringContaining("A hook of turn.onComplete did not finish within 5 ms")]);
  hanging.unregister();

  agent.beforeTurn(hang);
  await agent.put(new Turn(add, { a: 1, b: 2 }));
  const controller = new AbortController();
  const aborted = valuesOf(agent.run({ signal: controller.signal, graceMs: 5 }));
  controller.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  expect(agent.turns).toHaveLength(1);
});

test("without any grace, the hooks still run when the run is left", async () => {
  const { promise: never } = Promise.withResolvers<void>();
  let started = false;
  const deaf = tool("deaf", "Hears nothing.", {}, async () => {
    started = true;
    await never;
  });
  const agent = new Agent({ name: "worker", tools: [deaf], registry });
  const turn = new Turn(deaf);
  const seen: string[] = [];
  turn.onComplete(async (_turn, stopReason) => seen.push(stopReason));
  await agent.put(turn);
  const run = agent.run({ graceMs: 0 });
  const pending = run.next();
  await expect.poll(() => started).toBe(true);
  await run.return();
  await pending;
  expect([seen, agent.isRunning, turn.isRunning]).toEqual([["cancelled"], false, false]);
});

test("hanging context hooks cannot hold a run that is left", async () => {
  const note = tool("note", "Notes.", {}, () => new ContextItem({ content: "x" }));
  const agent = new Agent({ name: "worker", tools: [note, add], registry });
  let isHanging = false;
  agent.contextQueue.beforeAppend(async () => {
    isHanging = true;
    await new Promise(() => {});
  });
  await agent.put(new Turn(note));
  const run = agent.run({ graceMs: 5 });
  const pending = run.next();
  await expect.poll(() => isHanging).toBe(true);
  await run.return();
  await pending;
  expect(agent.isRunning).toBe(false);
});

test("a timeout hook may take longer than the grace", async () => {
  const hang = tool(
    { name: "hang", description: "Hangs.", timeoutMs: 5, registry: false },
    async (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
  );
  const turn = new Turn(hang);
  const seen: unknown[] = [];
  turn.onTimeout(async (_turn, { signal }) => {
    // Set after any timer of the grace and for no less, so it fires later.
    await new Promise((resolve) => setTimeout(resolve, 1));
    seen.push(signal.aborted);
  });
  await expect(turn.returning({ graceMs: 0 })).rejects.toThrow("more than its 5 ms");
  expect(seen).toEqual([false]);
  expect(warnings).toEqual([]);
});
