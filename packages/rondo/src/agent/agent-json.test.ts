import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { InvalidJsonError, UnregisteredToolError, UnserializableError } from "../errors.ts";
import {
  Agent,
  type AnyTool,
  ContextItem,
  ContextPool,
  ContextQueue,
  Registry,
  Turn,
  tool,
} from "../index.ts";
import { valuesOf } from "../testkit/values-of.ts";
import { add, count } from "./testkit/agent-kit.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
});

/** What a file would hold. */
function saved(agent: Agent): Record<string, unknown> {
  return JSON.parse(JSON.stringify(agent)) as Record<string, unknown>;
}

function restored(json: unknown, tools: AnyTool[] = [add, count]): Agent {
  return Agent.fromJSON(json, { tools, registry: new Registry() });
}

describe("a saved agent", () => {
  test("has all that it knows, and no hooks", async () => {
    const agent = new Agent({
      name: "worker",
      description: "Works.",
      tools: [add, count],
      contextQueue: new ContextQueue({ limit: 3, tags: ["q"] }),
      contextPool: new ContextPool({ limit: 2 }),
      tags: ["t"],
      registry,
    });
    agent.afterTurn(async () => {});
    await agent.contextQueue.append(new ContextItem({ content: { n: 1 } }));
    await agent.contextPool.add(new ContextItem({ content: "x", id: "i", description: "d" }));
    await agent.put(new Turn(add, { a: 1, b: 2 }, { metadata: { note: 1 }, timeoutMs: 5 }));
    agent.pause();
    expect(saved(agent)).toEqual({
      version: 1,
      name: "worker",
      description: "Works.",
      toolNames: ["add", "count"],
      queue: [
        expect.objectContaining({
          toolName: "add",
          input: { a: 1, b: 2 },
          timeoutMs: 5,
          metadata: { note: 1 },
        }),
      ],
      currentTurn: null,
      contextQueue: {
        version: 1,
        limit: 3,
        tags: ["q"],
        items: [{ id: null, description: null, content: { n: 1 } }],
      },
      contextPool: { version: 1, limit: 2, tags: [], items: [{ id: "i", description: "d", content: "x" }] },
      isPaused: true,
      tags: ["t"],
    });
  });

  test("does not change the queue", async () => {
    const agent = new Agent({ name: "worker", tools: [add], registry });
    for (const a of [1, 2, 3]) await agent.put(new Turn(add, { a, b: 0 }));
    saved(agent);
    expect(await valuesOf(agent.run())).toEqual([1, 2, 3]);
  });

  test("comes back equal, registered, and paused if it was", async () => {
    const agent = new Agent({ name: "worker", description: "Works.", tools: [add], tags: ["t"], registry });
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    agent.pause();
    const home = new Registry();
    const copy = Agent.fromJSON(saved(agent), { tools: [add], registry: home });
    expect(saved(copy)).toEqual(saved(agent));
    expect(home.agents.get("worker")).toBe(copy);
    expect(copy.isPaused).toBe(true);
    copy.resume();
    expect(await valuesOf(copy.run())).toEqual([3]);
  });

  test("runs a turn first that was under way when it was saved", async () => {
    const agent = new Agent({ name: "worker", tools: [add, count], registry });
    await agent.put(new Turn(count, { to: 3 }));
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    const run = agent.run();
    await run.next();
    const json = saved(agent);
    expect(json["currentTurn"]).toMatchObject({ toolName: "count", stopReason: null, attempts: 1 });
    await run.return();
    const copy = restored(json);
    expect(copy.currentTurn?.tool).toBe(count);
    expect(saved(copy)["currentTurn"]).toEqual(json["currentTurn"]);
    expect(await valuesOf(copy.run())).toEqual([1, 2, 3, 3]);
  });

  test("made in an afterTurn hook does not replay the finished turn", async () => {
    const agent = new Agent({ name: "worker", tools: [add], registry });
    let json: unknown;
    agent.afterTurn(async (it) => {
      json ??= saved(it);
    });
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    await agent.put(new Turn(add, { a: 3, b: 4 }));
    await valuesOf(agent.run());
    expect(await valuesOf(restored(json).run())).toEqual([7]);
  });

  test("of a completed turn whose value was not passed on yet passes it on, without a second run", async () => {
    let runs = 0;
    const once = tool("once", "Runs once.", {}, () => {
      runs += 1;
      return new Turn(add, { a: 1, b: runs });
    });
    const agent = new Agent({ name: "worker", tools: [once, add], registry });
    const turn = new Turn(once);
    let json: unknown;
    turn.onComplete(async () => {
      json = saved(agent);
    });
    await agent.put(turn);
    await valuesOf(agent.run());
    expect(await valuesOf(restored(json, [once, add]).run())).toEqual([2]);
    expect(runs).toBe(1);
  });

  test("does not hold a turn that has failed", async () => {
    const fail = tool("fail", "Fails.", {}, () => {
      throw new Error("broken");
    });
    const agent = new Agent({ name: "worker", tools: [fail], registry });
    let json: Record<string, unknown> = {};
    agent.onError(async () => {
      json = saved(agent);
    });
    await agent.put(new Turn(fail));
    await expect(valuesOf(agent.run())).rejects.toThrow("broken");
    expect(json["currentTurn"]).toBeNull();
  });

  test("keeps the current turn if a restored agent is left while it is paused", async () => {
    const agent = new Agent({ name: "worker", tools: [count], registry });
    await agent.put(new Turn(count, { to: 2 }));
    const run = agent.run();
    await run.next();
    const copy = restored(saved(agent));
    await run.return();
    copy.pause();
    const atGate = new Promise<void>((resolve) => {
      copy.onPause(async () => resolve());
    });
    const left = copy.run();
    const pending = left.next();
    await atGate;
    await left.return();
    await pending;
    copy.resume();
    expect(await valuesOf(copy.run())).toEqual([1, 2]);
  });

  test("has the context as it was before the turn under way, also what that turn has pushed out", async () => {
    const note = tool("note", "Notes.", {}, async function* (_input, { contextQueue, contextPool }) {
      yield `${contextQueue?.history()} ${contextPool?.catalogue()}`;
      yield new ContextItem({ content: "c" });
      yield new ContextItem({ content: 2, id: "y", description: "Y" });
      yield "noted";
    });
    const agent = new Agent({
      name: "worker",
      tools: [note],
      contextQueue: new ContextQueue({ limit: 2 }),
      contextPool: new ContextPool({ limit: 1 }),
      registry,
    });
    await agent.contextQueue.append(new ContextItem({ content: "a" }), new ContextItem({ content: "b" }));
    await agent.contextPool.add(new ContextItem({ content: 1, id: "x", description: "X" }));
    await agent.put(new Turn(note));
    let json: unknown;
    const values: unknown[] = [];
    for await (const [, value] of agent.run()) {
      values.push(value);
      json = saved(agent);
    }
    expect(values).toEqual(["a\nb - [x] X", "noted"]);
    expect(await valuesOf(restored(json, [note]).run())).toEqual(values);
  });

  test("keeps what others have queued, also if the turn under way has added the very same", async () => {
    const ping = new ContextItem({ content: "ping" });
    const shared = new Turn(add, { a: 1, b: 2 });
    const kept = new ContextItem({ content: 1, id: "k", description: "Kept" });
    const repeat = tool("repeat", "Repeats.", {}, async function* () {
      yield ping;
      yield shared;
      yield kept;
      yield new ContextItem({ content: 2, id: "k", description: "Kept" });
      yield "done";
    });
    const agent = new Agent({ name: "worker", tools: [repeat, add], registry });
    await agent.contextQueue.append(ping, ping);
    await agent.contextPool.add(kept);
    await agent.put(new Turn(repeat));
    await agent.put(shared);
    let json: Record<string, unknown> = {};
    for await (const [, value] of agent.run()) if (value === "done") json = saved(agent);
    expect(json["contextQueue"]).toMatchObject({ items: [{ content: "ping" }, { content: "ping" }] });
    expect(json["contextPool"]).toMatchObject({ items: [{ id: "k", content: 1 }] });
    expect(json["queue"]).toHaveLength(1);
    expect(await valuesOf(restored(json, [repeat, add]).run())).toEqual(["done", 3, 3]);
  });

  test("can be made of a tool that gives its own turn back, to run again", async () => {
    let runs = 0;
    const poll = tool("poll", "Polls.", {}, (_input, { turn }) => {
      runs += 1;
      return runs % 3 === 0 ? "ready" : turn;
    });
    const agent = new Agent({ name: "worker", tools: [poll], registry });
    const snapshots: unknown[] = [];
    agent.onTurnValue(async (it) => snapshots.push(saved(it)));
    agent.afterTurn(async (it) => snapshots.push(saved(it)));
    await agent.put(new Turn(poll));
    expect(await valuesOf(agent.run())).toEqual(["ready"]);
    expect(snapshots).toHaveLength(6);
    const copy = restored(snapshots[0], [poll]);
    expect(copy.currentTurn?.output).toBe(copy.currentTurn);
    expect(await valuesOf(copy.run())).toEqual(["ready"]);
  });

  test("with a lazy argument in its queue is a clear error that calls nothing", async () => {
    const agent = new Agent({ name: "worker", tools: [add], registry });
    let calls = 0;
    const lazy = () => {
      calls += 1;
      return 1;
    };
    await agent.put(new Turn(add, { a: lazy, b: 2 }));
    expect(() => agent.toJSON()).toThrow(UnserializableError);
    expect(calls).toBe(0);
    expect(await valuesOf(agent.run())).toEqual([3]);
  });
});

describe("reading", () => {
  const minimal = { name: "worker", toolNames: ["add"] };

  test("takes the least: a name and tools", async () => {
    const agent = restored(minimal);
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    expect(await valuesOf(agent.run())).toEqual([3]);
  });

  test.each([
    ["no object", 5, "Cannot read agent: expected an object, got 5."],
    [
      "a newer version",
      { ...minimal, version: 2 },
      "agent.version: expected a format version from 1 to 1, got 2",
    ],
    ["no name", { toolNames: [] }, "agent.name: expected a string, got nothing"],
    [
      "a wrong tool name",
      { ...minimal, toolNames: ["add", 5] },
      "agent.toolNames[1]: expected a string, got 5",
    ],
    ["a wrong queue", { ...minimal, queue: "x" }, 'agent.queue: expected a list, got "x"'],
    ["a wrong turn", { ...minimal, queue: [{}] }, "agent.queue[0].toolName: expected a string"],
    [
      "a wrong time",
      { ...minimal, queue: [{ toolName: "add", startTime: "noon" }] },
      'agent.queue[0].startTime: expected an ISO date, got "noon"',
    ],
    [
      "an unknown stop reason",
      { ...minimal, queue: [{ toolName: "add", stopReason: "tired" }] },
      "agent.queue[0].stopReason: expected one of completed, timeout, error, cancelled",
    ],
    [
      "an unknown kind of value",
      { ...minimal, queue: [{ toolName: "add", input: { a: { $rondo: "matrix", value: 1 } } }] },
      'agent.queue[0].input.a: expected a kind of value that this version knows, got "matrix"',
    ],
  ])("refuses %s, with the path", (_what, json, message) => {
    const home = new Registry();
    const read = () => Agent.fromJSON(json, { tools: [add], registry: home });
    expect(read).toThrow(InvalidJsonError);
    expect(read).toThrow(message);
    expect(home.agents.all()).toEqual([]);
  });

  test("refuses a tool that is nowhere, and registers nothing", () => {
    const home = new Registry();
    const read = () => Agent.fromJSON({ ...minimal, toolNames: ["gone"] }, { registry: home });
    expect(read).toThrow(UnregisteredToolError);
    expect(home.agents.all()).toEqual([]);
  });

  test("refuses a queued turn of a tool that the agent does not have", () => {
    const read = () => restored({ ...minimal, queue: [{ toolName: "count", input: { to: 1 } }] });
    expect(read).toThrow("turn.tool: expected one of the tools of the agent 'worker' (add)");
  });
});

describe("an agent that is saved at any point and restored", () => {
  // Work that leads to more work: values, turns and context items, single and streamed.
  type Plan = { kind: "value" | "stream" | "streamWithResult"; produce: Product[] };
  type Product = number | { note: string } | { keep: string } | Plan;

  const { plan: planArbitrary } = fc.letrec<{ plan: Plan; product: Product }>((tie) => ({
    product: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      fc.nat(99),
      fc.record({ note: fc.string({ maxLength: 3 }) }),
      fc.record({ keep: fc.constantFrom("x", "y", "z") }),
      tie("plan"),
    ),
    plan: fc.record({
      kind: fc.constantFrom<Plan["kind"]>("value", "stream", "streamWithResult"),
      produce: fc.array(tie("product"), { minLength: 1, maxLength: 3 }),
    }),
  }));

  const plansArbitrary = fc.array(planArbitrary, { minLength: 1, maxLength: 3 });

  const toValue = (product: Product): unknown => {
    if (typeof product === "number") return product;
    if ("note" in product) return new ContextItem({ content: product.note });
    if ("keep" in product) return new ContextItem({ content: 1, id: product.keep, description: "kept" });
    return toTurn(product);
  };
  const toTurn = ({ kind, produce }: Plan) => new Turn(kind === "value" ? single : stream, { kind, produce });
  const single = tool("single", "One value.", { kind: String, produce: Array }, ({ produce }) =>
    toValue(produce[0] as Product),
  );
  const stream = tool(
    "stream",
    "Some values.",
    { kind: String, produce: Array },
    async function* ({ kind, produce }) {
      const values = (produce as Product[]).map(toValue);
      const result = kind === "streamWithResult" ? values.pop() : undefined;
      yield* values;
      return result;
    },
  );
  const tools = [single, stream];

  const newAgent = async (plans: Plan[], poolLimit: number | null) => {
    const agent = new Agent({
      name: "worker",
      tools,
      contextQueue: new ContextQueue({ limit: 2 }),
      contextPool: new ContextPool({ limit: poolLimit }),
      registry: new Registry(),
    });
    for (const plan of plans) await agent.put(toTurn(plan));
    return agent;
  };
  const finalState = (agent: Agent) => {
    const { contextQueue, contextPool } = saved(agent);
    return JSON.stringify([contextQueue, contextPool]);
  };

  interface Snapshot {
    readonly json: unknown;
    /** How many values the caller had got before the turn that is under way in the snapshot. */
    readonly delivered: number;
  }

  /** Runs an agent, and saves it at every yield and in every hook on the way. */
  async function runAndSave(agent: Agent): Promise<{ values: unknown[]; snapshots: Snapshot[] }> {
    const values: unknown[] = [];
    const snapshots: Snapshot[] = [];
    let atTurnStart = 0;
    const save = async () => {
      const json = saved(agent) as { currentTurn: { stopReason: string | null } | null };
      const isUnderWay = json.currentTurn !== null && json.currentTurn.stopReason === null;
      snapshots.push({ json, delivered: isUnderWay ? atTurnStart : values.length });
    };
    agent.beforeTurn(async () => {
      atTurnStart = values.length;
      await save();
    });
    agent.onTurnValue(save);
    agent.afterTurn(save);
    agent.beforePut(save);
    agent.afterPut(save);
    agent.onComplete(save);
    agent.contextQueue.beforeAppend(save);
    agent.contextQueue.afterAppend(save);
    agent.contextPool.afterAdd(save);
    for await (const [, value] of agent.run()) {
      values.push(value);
      await save();
    }
    await save();
    return { values, snapshots };
  }

  test("yields the same remaining results, and ends with the same context", async () => {
    await fc.assert(
      fc.asyncProperty(plansArbitrary, fc.constantFrom(null, 2), async (plans, poolLimit) => {
        const agent = await newAgent(plans, poolLimit);
        const { values, snapshots } = await runAndSave(agent);
        const expected = finalState(agent);
        for (const { json, delivered } of snapshots) {
          const copy = restored(json, tools);
          expect(await valuesOf(copy.run())).toEqual(values.slice(delivered));
          expect(finalState(copy)).toBe(expected);
        }
      }),
      { numRuns: 60 },
    );
  });
});
