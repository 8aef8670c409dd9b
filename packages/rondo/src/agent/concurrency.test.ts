import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions, ContextItem, InvalidArgumentError, Turn, tool } from "../index.ts";
import { valuesOf } from "../testkit/values-of.ts";
import { collectWarnings } from "../testkit/warnings.ts";
import { add, count } from "./testkit/agent-kit.ts";

const broken = new Error("broken");
const ticks = async (times: number) => {
  for (let n = 0; n < times; n += 1) await new Promise((resolve) => setImmediate(resolve));
};

function agentWith(options: Partial<AgentOptions> & Pick<AgentOptions, "tools">): Agent {
  return new Agent({ name: "worker", registry: false, concurrency: 3, ...options });
}

/** A tool whose turns wait until they are let go, by name. */
function gated({ lock = false } = {}) {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const started: string[] = [];
  const gate = (name: string) => {
    const known = gates.get(name) ?? Promise.withResolvers<void>();
    gates.set(name, known);
    return known;
  };
  const wait = tool(
    { name: "wait", description: "Waits.", input: { name: String }, lock, registry: false },
    async ({ name }, { signal }) => {
      started.push(name);
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        gate(name).promise.then(resolve, reject);
      });
      return name;
    },
  );
  return { wait, started, gate, turn: (name: string) => new Turn(wait, { name }) };
}

test("up to that many turns run at once, start in order, and yield in the order in which they end", async () => {
  const { wait, started, gate, turn } = gated();
  const agent = agentWith({ tools: [wait] });
  const turns = ["a", "b", "c", "d"].map(turn);
  for (const each of turns) await agent.put(each);
  const run = agent.run();
  const first = run.next();
  await expect.poll(() => started).toEqual(["a", "b", "c"]);
  expect(agent.currentTurns).toEqual(turns.slice(0, 3));
  expect(agent.currentTurn).toBe(turns[0]);
  gate("c").resolve();
  expect((await first).value).toEqual([turns[2], "c"]);
  const second = run.next();
  await expect.poll(() => started).toEqual(["a", "b", "c", "d"]);
  for (const name of ["d", "a", "b"]) gate(name).resolve();
  const rest = [await second, await run.next(), await run.next(), await run.next()];
  expect(new Set(rest.map(({ value }) => (value ? value[1] : "end")))).toEqual(
    new Set(["a", "b", "d", "end"]),
  );
  expect([agent.isRunning, agent.currentTurns]).toEqual([false, []]);
});

test("a stream is at most one value ahead of the consumer", async () => {
  let made = 0;
  const endless = tool("endless", "Counts.", {}, async function* () {
    for (;;) {
      made += 1;
      yield made;
    }
  });
  const agent = agentWith({ tools: [endless] });
  await agent.put(new Turn(endless));
  await agent.put(new Turn(endless));
  let taken = 0;
  for await (const _ of agent.run()) {
    taken += 1;
    await ticks(5);
    expect(made).toBeLessThanOrEqual(taken + 2);
    if (taken === 10) break;
  }
});

describe("a turn that fails", () => {
  test("ends the run after the turns in flight, whose values are yielded; the rest stays queued", async () => {
    const { wait, started, gate, turn } = gated();
    const agent = agentWith({ tools: [wait], concurrency: 2 });
    const turns = ["a", "b", "c"].map(turn);
    for (const each of turns) await agent.put(each);
    const run = agent.run();
    const first = run.next();
    await expect.poll(() => started).toEqual(["a", "b"]);
    gate("a").reject(broken);
    await expect.poll(() => turns[0]?.isRunning).toBe(false);
    await ticks(5);
    expect(started).toEqual(["a", "b"]);
    gate("b").resolve();
    expect((await first).value).toEqual([turns[1], "b"]);
    await expect(run.next()).rejects.toBe(broken);
    expect(turns.map(({ stopReason }) => stopReason)).toEqual(["error", "completed", null]);
    expect(agent.turns).toEqual([turns[2]]);
    expect(Turn.ofError(broken)).toBe(turns[0]);
  });

  test("is followed by a warning about each other failure", async () => {
    const warnings = collectWarnings();
    const fail = tool("fail", "Fails.", { text: String }, ({ text }) => {
      throw new Error(text);
    });
    const agent = agentWith({ tools: [fail] });
    await agent.put(new Turn(fail, { text: "first" }));
    await agent.put(new Turn(fail, { text: "second" }));
    await expect(valuesOf(agent.run())).rejects.toThrow("first");
    expect(warnings).toEqual(["Another turn failed while the run was ending."]);
  });

  test("stays queued if a beforeTurn hook threw", async () => {
    const agent = agentWith({ tools: [add] });
    const turn = new Turn(add, { a: 1, b: 2 });
    agent.beforeTurn(async () => {
      throw broken;
    });
    await agent.put(turn);
    await expect(valuesOf(agent.run())).rejects.toBe(broken);
    expect(agent.turns).toEqual([turn]);
  });
});

test.each(["leaving", "aborting"])("%s ends all turns in flight, and frees the agent", async (how) => {
  const { wait, started, turn } = gated();
  const agent = agentWith({ tools: [wait, add] });
  const turns = ["a", "b", "c"].map(turn);
  for (const each of turns) await agent.put(each);
  await agent.put(new Turn(add, { a: 1, b: 2 }));
  const outcomes: string[] = [];
  agent.onComplete(async (each, stopReason) => outcomes.push(`${String(each.input["name"])} ${stopReason}`));
  const controller = new AbortController();
  const run = agent.run({ signal: controller.signal });
  const pending = run.next().catch((error: unknown) => error);
  await expect.poll(() => started).toHaveLength(3);
  if (how === "leaving") await run.return();
  else controller.abort(broken);
  expect(await pending).toEqual(how === "leaving" ? { done: true, value: undefined } : broken);
  expect(outcomes.toSorted()).toEqual(["a cancelled", "b cancelled", "c cancelled"]);
  expect([agent.isRunning, agent.currentTurns]).toEqual([false, []]);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  agent.onComplete(async () => {});
  expect(await valuesOf(agent.run())).toEqual([3]);
});

describe("a turn waits for those before it", () => {
  test("if it needs their lock, however long they hold it", async () => {
    const { wait, started, gate } = gated({ lock: true });
    const agent = agentWith({ tools: [wait] });
    for (const name of ["a", "b"]) await agent.put(new Turn(wait, { name }, { timeoutMs: 1_000 }));
    const done = valuesOf(agent.run());
    await expect.poll(() => started).toEqual(["a"]);
    await ticks(5);
    expect(agent.turns).toHaveLength(1);
    gate("a").resolve();
    gate("b").resolve();
    expect(await done).toEqual(["a", "b"]);
  });

  test("if one of them queued it, or it is the same turn", async () => {
    const log: string[] = [];
    const child = tool("child", "A child.", {}, () => void log.push("child"));
    const parent = tool("parent", "Queues.", {}, async function* () {
      yield new Turn(child);
      await ticks(5);
      log.push("parent ends");
    });
    const agent = agentWith({ tools: [parent, child, count] });
    await agent.put(new Turn(parent));
    await valuesOf(agent.run());
    expect(log).toEqual(["parent ends", "child"]);

    const twice = new Turn(count, { to: 2 });
    await agent.put(twice);
    await agent.put(twice);
    expect(await valuesOf(agent.run())).toEqual([1, 2, 1, 2]);
  });

  test("if it is a completion check, or follows one", async () => {
    let ended = 0;
    const work = tool("work", "Works.", {}, async () => {
      await ticks(3);
      ended += 1;
      return "worked";
    });
    const check = tool(
      { name: "check", description: "Checks.", type: "completion_check", registry: false },
      async () => ended >= 4,
    );
    const agent = agentWith({ tools: [work, check] });
    for (let round = 0; round < 3; round += 1) {
      for (const each of [work, work, check]) await agent.put(new Turn(each));
    }
    const values = await valuesOf(agent.run());
    expect(values).toEqual(["worked", "worked", false, "worked", "worked", true]);
    expect([ended, agent.turns.length]).toEqual([4, 3]);
  });
});

test("pausing lets the turns in flight complete, and starts no other", async () => {
  const { wait, started, gate, turn } = gated();
  const agent = agentWith({ tools: [wait], concurrency: 2 });
  for (const name of ["a", "b", "c"]) await agent.put(turn(name));
  const paused = Promise.withResolvers<void>();
  agent.onPause(async () => paused.resolve());
  const done = valuesOf(agent.run());
  await expect.poll(() => started).toEqual(["a", "b"]);
  agent.pause();
  for (const name of ["a", "b", "c"]) gate(name).resolve();
  await paused.promise;
  expect(started).toEqual(["a", "b"]);
  agent.resume();
  expect(new Set(await done)).toEqual(new Set(["a", "b", "c"]));
});

test("a turn that is put while others run starts at once, also with `wait`", async () => {
  const { wait, started, gate, turn } = gated();
  const agent = agentWith({ tools: [wait] });
  await agent.put(turn("a"));
  const run = agent.run({ wait: true });
  const first = run.next();
  await expect.poll(() => started).toEqual(["a"]);
  await agent.put(turn("b"));
  await expect.poll(() => started).toEqual(["a", "b"]);
  gate("b").resolve();
  expect((await first).value?.[1]).toBe("b");
  await run.return();
});

describe("a snapshot", () => {
  test.each([1, 3])(
    "has all turns in flight, without their effects; restored with %i at once",
    async (concurrency) => {
      const notes = tool("notes", "Notes.", { text: String }, async function* ({ text }) {
        yield new ContextItem({ content: text });
        yield new ContextItem({ content: text, id: "last", description: "The last" });
        yield text;
        yield `${text} again`;
      });
      const agent = agentWith({ tools: [notes, add], concurrency: 2 });
      await agent.contextQueue.append(new ContextItem({ content: "before" }));
      for (const text of ["a", "b"]) await agent.put(new Turn(notes, { text }));
      await agent.put(new Turn(add, { a: 1, b: 2 }));
      await agent.put(new Turn(add, { a: 2, b: 2 }));
      let snapshot = "";
      for await (const _ of agent.run()) {
        await ticks(3);
        expect(agent.contextQueue.items.map(({ content }) => content)).toEqual(["before", "a", "b"]);
        snapshot = JSON.stringify(agent);
        break;
      }
      const restored = Agent.fromJSON(JSON.parse(snapshot), {
        tools: [notes, add],
        registry: false,
        concurrency,
      });
      expect(restored.contextQueue.items.map(({ content }) => content)).toEqual(["before"]);
      expect(restored.contextPool.size).toBe(0);
      expect(restored.currentTurns.map(({ tool: { name } }) => name)).toEqual(["notes", "notes"]);
      const values = await valuesOf(restored.run());
      expect(values.map(String).toSorted()).toEqual(["3", "4", "a", "a again", "b", "b again"]);
      expect(restored.contextQueue.size).toBe(3);
    },
  );

  test("has the value of a turn that ended, if it was not yielded yet", async () => {
    let runs = 0;
    const once = tool("once", "Runs once.", {}, () => {
      runs += 1;
      return runs;
    });
    const agent = agentWith({ tools: [once] });
    for (let n = 0; n < 3; n += 1) await agent.put(new Turn(once));
    const run = agent.run();
    const first = await run.next();
    await ticks(3);
    const snapshot = JSON.stringify(agent);
    await run.return();
    const restored = Agent.fromJSON(JSON.parse(snapshot), { tools: [once], registry: false });
    expect([first.value?.[1], ...(await valuesOf(restored.run()))]).toEqual([1, 2, 3]);
    expect(runs).toBe(3);
  });
});

test("a branch has the same concurrency, and only whole numbers from 1 are accepted", async () => {
  const { wait, started, turn } = gated();
  const agent = agentWith({ tools: [wait] });
  for (const name of ["a", "b"]) await agent.put(turn(name));
  const run = agent.branch("other").run();
  const pending = run.next();
  await expect.poll(() => started).toEqual(["a", "b"]);
  await run.return();
  await pending;
  for (const concurrency of [0, 1.5, Number.POSITIVE_INFINITY])
    expect(() => agentWith({ tools: [], concurrency })).toThrow(InvalidArgumentError);
});

const kinds = ["value", "stream", "locked", "lockedStream", "note", "child", "flaky", "fail"] as const;
const plans = fc.record({
  concurrency: fc.integer({ min: 1, max: 4 }),
  turns: fc.array(fc.record({ kind: fc.constantFrom(...kinds), length: fc.nat(3) }), {
    minLength: 1,
    maxLength: 10,
  }),
  /** What the consumer does with each value that it gets. */
  actions: fc.array(fc.constantFrom("go", "slow", "pause", "save", "leave"), { maxLength: 12 }),
});

test("any mixture of turns, pauses, snapshots and leaving gives every turn one outcome, and nothing is left over", async () => {
  collectWarnings();
  await fc.assert(
    fc.asyncProperty(plans, async ({ concurrency, turns, actions }) => {
      let holders = 0;
      const locked = async (work: () => Promise<unknown>) => {
        holders += 1;
        expect(holders).toBe(1);
        await work();
        holders -= 1;
      };
      const input = { length: Number };
      const define = (name: string, lock = false) => ({
        name,
        description: name,
        input,
        lock,
        registry: false as const,
      });
      const value = tool(define("value"), async ({ length }) => ticks(length).then(() => "value"));
      const tools = [
        value,
        tool(define("stream"), async function* ({ length }) {
          for (let n = 0; n <= length; n += 1) yield n;
        }),
        tool(define("locked", true), async ({ length }) => locked(async () => ticks(length))),
        tool(define("lockedStream", true), async function* ({ length }) {
          yield "start";
          await ticks(length);
          yield "end";
        }),
        tool(define("note"), async ({ length }) => new ContextItem({ content: length })),
        tool(define("child"), async ({ length }) => new Turn(value, { length })),
        tool(define("flaky"), async ({ length }, { turn }) => {
          await ticks(length);
          if (turn.attempts % 2 === 1) throw broken;
          return "flaky";
        }),
        tool(define("fail"), async ({ length }) => {
          await ticks(length);
          throw broken;
        }),
      ];
      const settings = { tools, registry: false as const, concurrency, retries: { attempts: 2, delayMs: 1 } };
      const { signal } = new AbortController();
      let step = 0;
      let snapshot: string | undefined;
      const put: Turn[] = [];
      let known: ReadonlySet<string> = new Set();

      /** Runs until nothing is queued: a failure and leaving end a run, not the work. */
      const runAll = async (agent: Agent) => {
        const ended = new Map<string, number>();
        agent.onComplete(async ({ uuid }) => void ended.set(uuid, (ended.get(uuid) ?? 0) + 1));
        const all = new Map(agent.currentTurns.concat(agent.turns).map((turn) => [turn.uuid, turn]));
        const before = new Map([...all].map(([uuid, turn]) => [uuid, turn.attempts]));
        agent.afterPut(async (_agent, turn) => void all.set(turn.uuid, turn));
        while (agent.turns.length + agent.currentTurns.length > 0) {
          try {
            for await (const _ of agent.run({ signal })) {
              const action = actions[step];
              step += 1;
              if (action === "slow") await ticks(3);
              if (action === "pause") {
                agent.pause();
                setImmediate(() => agent.resume());
              }
              if (action === "save" && snapshot === undefined) {
                snapshot = JSON.stringify(agent);
                // Without turns that others queued: one in flight queues them again.
                known = new Set(put.filter(({ stopReason }) => stopReason === null).map(({ uuid }) => uuid));
              }
              if (action === "leave") break;
            }
          } catch (error) {
            if (error !== broken) throw error;
          }
          expect([agent.isRunning, agent.currentTurns]).toEqual([false, []]);
        }
        for (const turn of all.values()) {
          expect(turn.stopReason).not.toBeNull();
          expect(turn.isRunning).toBe(false);
          expect(ended.get(turn.uuid) ?? 0).toBe(turn.attempts - (before.get(turn.uuid) ?? 0));
        }
        expect(holders).toBe(0);
        expect(getEventListeners(signal, "abort")).toEqual([]);
        return all;
      };

      const agent = new Agent({ name: "worker", ...settings });
      const byName = new Map(tools.map((each) => [each.name, each]));
      for (const { kind, length } of turns) put.push(new Turn(byName.get(kind) ?? value, { length }));
      for (const turn of put) await agent.put(turn);
      await runAll(agent);
      if (snapshot === undefined) return;
      const copy = Agent.fromJSON(JSON.parse(snapshot), settings);
      copy.resume(); // it may have been saved while it was paused
      const restored = await runAll(copy);
      for (const uuid of known) expect(restored.has(uuid)).toBe(true);
    }),
    { numRuns: 150 },
  );
}, 60_000);
