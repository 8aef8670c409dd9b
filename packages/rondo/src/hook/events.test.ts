import { afterEach, describe, expect, test } from "vitest";
import {
  Agent,
  ContextItem,
  ContextPool,
  ContextQueue,
  type HookContext,
  hook,
  Registry,
  Turn,
  tool,
} from "../index.ts";
import { type HookEvent, hookEvents } from "./events.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
});

/** The names and arguments of all events from now on, without the context at the end. */
function recordEvents(): { event: HookEvent; args: unknown[]; context: HookContext }[] {
  const fired: { event: HookEvent; args: unknown[]; context: HookContext }[] = [];
  for (const event of hookEvents)
    hook(
      event,
      async (...args: unknown[]) => {
        const context = args.pop() as HookContext;
        fired.push({ event, args, context });
      },
      { registry },
    );
  return fired;
}

function makeCounter() {
  return tool({ name: "count", description: "", input: { to: Number }, registry }, async function* ({ to }) {
    for (let n = 1; n <= to; n += 1) yield n;
  });
}

function makeFailing() {
  return tool({ name: "fail", description: "", registry }, async () => {
    throw new RangeError("too far");
  });
}

describe("the events of a tool", () => {
  test("beforeInvoke gets the validated input that the tool gets: defaults and fixed in, unknown keys out", async () => {
    const seen: unknown[] = [];
    const greet = tool(
      {
        name: "greet",
        description: "",
        input: { name: String, greeting: { type: "string", default: "Hello" }, mark: String },
        fixed: { mark: () => "!" },
        registry,
      },
      async (input) => {
        seen.push({ ...input });
      },
    );
    greet.beforeInvoke(async (input) => seen.push({ ...input }));
    await greet.execute({ name: "Ada", extra: 1 } as never);
    const input = { name: "Ada", greeting: "Hello", mark: "!" };
    expect(seen).toEqual([input, input]);
  });

  test("afterInvoke gets the result as its first argument, whatever it is called", async () => {
    const seen: unknown[] = [];
    const give = tool({ name: "give", description: "", registry }, async () => ({ value: 1 }));
    give.afterInvoke(async (anything) => seen.push(anything));
    await give.execute();
    expect(seen).toEqual([{ value: 1 }]);
  });

  test("onYield gets each value, and afterInvoke the list of all values", async () => {
    const fired = recordEvents();
    await Array.fromAsync(makeCounter().execute({ to: 3 }));
    const ofTool = fired.filter(({ event }) => event.startsWith("tool."));
    expect(ofTool.map(({ event, args }) => [event, ...args])).toEqual([
      ["tool.beforeInvoke", { to: 3 }],
      ["tool.onYield", 1],
      ["tool.onYield", 2],
      ["tool.onYield", 3],
      ["tool.afterInvoke", [1, 2, 3]],
    ]);
  });

  test("onYield does not fire for a tool that returns one value", async () => {
    const fired = recordEvents();
    await tool({ name: "give", description: "", registry }, async () => [1, 2]).execute();
    expect(fired.map(({ event }) => event)).not.toContain("tool.onYield");
  });

  test("afterInvoke gets the partial list when the consumer breaks early", async () => {
    const seen: unknown[] = [];
    const stream = tool({ name: "stream", description: "", registry }, async function* () {
      yield 10;
      yield 20;
    });
    stream.afterInvoke(async (values) => seen.push(values));
    const run = stream.execute();
    await run.next();
    await run.return();
    expect(seen).toEqual([[10]]);
  });

  test("onError gets what the tool has thrown, and afterInvoke stays silent", async () => {
    const fired = recordEvents();
    await expect(makeFailing().execute()).rejects.toThrow("too far");
    const ofTool = fired.filter(({ event }) => event.startsWith("tool."));
    expect(ofTool.map(({ event, args }) => [event, ...args])).toEqual([
      ["tool.beforeInvoke", {}],
      ["tool.onError", new RangeError("too far")],
    ]);
  });

  test("onError fires when a stream throws midway, and afterInvoke stays silent", async () => {
    const fired = recordEvents();
    const stream = tool({ name: "stream", description: "", registry }, async function* () {
      yield 1;
      throw new RangeError("too far");
    });
    await expect(Array.fromAsync(stream.execute())).rejects.toThrow("too far");
    const ofTool = fired.filter(({ event }) => event.startsWith("tool."));
    expect(ofTool.map(({ event }) => event)).toEqual(["tool.beforeInvoke", "tool.onYield", "tool.onError"]);
  });

  test("onError never fires on success", async () => {
    const fired = recordEvents();
    await Array.fromAsync(makeCounter().execute({ to: 1 }));
    expect(fired.map(({ event }) => event)).not.toContain("tool.onError");
  });

  test("are followed by hooks that are attached after the definition, for that tool alone", async () => {
    const seen: unknown[] = [];
    const [one, other] = [makeCounter(), makeFailing()];
    one.beforeInvoke(async () => seen.push("before"));
    one.onYield(async () => seen.push("yield"));
    one.afterInvoke(async () => seen.push("after"));
    one.onError(async () => seen.push("error"));
    await expect(other.execute()).rejects.toThrow("too far");
    expect(seen).toEqual([]);
    await Array.fromAsync(one.execute({ to: 1 }));
    expect(seen).toEqual(["before", "yield", "after"]);
  });
});

describe("the context of a hook", () => {
  test("of a tool or turn has the tool, the turn and the run's signal, and no agent outside of one", async () => {
    const fired = recordEvents();
    const give = tool({ name: "give", description: "", registry }, async () => 1);
    const turn = new Turn(give);
    const { signal } = new AbortController();
    await turn.returning({ signal });
    for (const { context } of fired) {
      expect(context.tool).toBe(give);
      expect(context.turn).toBe(turn);
      expect(context.signal).toBe(signal);
      expect(context).not.toHaveProperty("agent");
    }
    expect(fired).toHaveLength(5);
  });

  test("has the agent, where there is one", async () => {
    const fired = recordEvents();
    const give = tool({ name: "give", description: "", registry }, async () => 1);
    const agent = new Agent({ name: "clerk", tools: [give], registry });
    await agent.put(new Turn(give));
    await Array.fromAsync(agent.run());
    expect(fired).toHaveLength(10);
    for (const { context } of fired) expect(context.agent).toBe(agent);
  });

  test("of a queue or pool has that, and a signal that is not aborted", async () => {
    const fired = recordEvents();
    const queue = new ContextQueue({ limit: 1, registry });
    const pool = new ContextPool({ registry });
    await queue.clear();
    await pool.clear();
    expect(fired.map(({ context }) => context.queue ?? context.pool)).toEqual([queue, queue, pool, pool]);
    expect(fired.every(({ context }) => !context.signal.aborted)).toBe(true);
  });
});

test("every event fires with its own arguments", async () => {
  const fired = recordEvents();
  const item = new ContextItem({ content: 1 });
  const named = new ContextItem({ content: 1, id: "a", description: "" });
  const late = new ContextItem({ content: 1, id: "b", description: "" });

  const counter = makeCounter();
  const failing = makeFailing();
  const stuck = tool(
    { name: "stuck", description: "", timeoutMs: 1, registry },
    async (_input, { signal }) => {
      await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    },
  );
  const agent = new Agent({ name: "clerk", tools: [counter, failing, stuck], registry });
  const [count, fail, hang] = [new Turn(counter, { to: 1 }), new Turn(failing), new Turn(stuck)];
  const atGate = Promise.withResolvers<void>();
  agent.onPause(async () => atGate.resolve());
  await agent.put(count);
  agent.pause();
  const run = agent.run();
  const first = run.next();
  await atGate.promise;
  agent.resume();
  await first;
  await run.next();
  await expect(fail.returning()).rejects.toThrow("too far");
  await expect(hang.returning()).rejects.toThrow("more than its 1 ms");

  const queue = new ContextQueue({ limit: 1, registry });
  await queue.append(item);
  await queue.append(named);
  await queue.clear();
  const pool = new ContextPool({ limit: 1, registry });
  await pool.add(named);
  await pool.add(late);
  await pool.remove("b");
  await pool.clear();

  const firstArgs = new Map(fired.toReversed().map(({ event, args }) => [event, args]));
  const error = new RangeError("too far");
  const expected: Record<HookEvent, unknown[]> = {
    "tool.beforeInvoke": [{ to: 1 }],
    "tool.onYield": [1],
    "tool.afterInvoke": [[1]],
    "tool.onError": [error],
    "turn.beforeRun": [count],
    "turn.afterRun": [count, [1]],
    "turn.onTimeout": [hang],
    "turn.onError": [fail, error],
    "turn.onComplete": [count, "completed"],
    "agent.beforeTurn": [agent],
    "agent.afterTurn": [agent, count],
    "agent.onTurnValue": [agent, count, 1],
    "agent.beforePut": [agent, count],
    "agent.afterPut": [agent, count],
    "agent.onPause": [agent],
    "agent.onResume": [agent],
    "queue.beforeAppend": [queue, [item], []],
    "queue.afterAppend": [[item], [item]],
    "queue.beforeClear": [queue, [named]],
    "queue.afterClear": [queue],
    "queue.onEvict": [queue, item],
    "pool.beforeAdd": [pool, named],
    "pool.afterAdd": [pool, named],
    "pool.beforeRemove": [pool, late],
    "pool.afterRemove": [pool, late],
    "pool.beforeClear": [pool, new Map()],
    "pool.afterClear": [pool],
    "pool.onEvict": [pool, named],
  };
  expect(Object.fromEntries(firstArgs)).toEqual(expected);
});
