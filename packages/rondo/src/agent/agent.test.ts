import { afterEach, describe, expect, test } from "vitest";
import { CompletionCheckReturnError, InvalidTypeError, UnregisteredToolError } from "../errors.ts";
import {
  Agent,
  ContextQueue,
  InvalidArgumentError,
  Registry,
  SafeExecutionError,
  Turn,
  type TurnValue,
  tool,
} from "../index.ts";
import { valuesOf } from "../testkit/values-of.ts";
import { add, agentWith, count } from "./testkit/agent-kit.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
});

describe("put", () => {
  test("queues a turn of one of the agent's tools, between beforePut and afterPut", async () => {
    const agent = agentWith([add], registry);
    const seen: string[] = [];
    agent.beforePut(async (it) => seen.push(`before ${it.turns.length}`));
    agent.afterPut(async (it) => seen.push(`after ${it.turns.length}`));
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    expect(seen).toEqual(["before 0", "after 1"]);
  });

  test("rejects anything but a turn, and names what it received", async () => {
    const agent = agentWith([add], registry);
    await expect(agent.put("add" as never)).rejects.toThrow(InvalidTypeError);
    await expect(agent.put(undefined as never)).rejects.toThrow("turn: expected a Turn, got nothing.");
    expect(agent.turns).toEqual([]);
  });

  test("refuses a turn whose tool the agent does not have", async () => {
    const agent = agentWith([add], registry);
    const refused = agent.put(new Turn(count, { to: 1 }));
    await expect(refused).rejects.toThrow(InvalidArgumentError);
    await expect(refused).rejects.toThrow("'worker' (add), got \"count\"");
  });

  test("refuses a turn of another tool of the same name", async () => {
    const agent = agentWith([add], registry);
    const other = tool("add", "Another.", {}, () => 0);
    await expect(agent.put(new Turn(other))).rejects.toThrow("not the instance given");
  });

  test("a beforePut hook that throws keeps the turn out", async () => {
    const agent = agentWith([add], registry);
    agent.beforePut(async () => {
      throw new Error("no");
    });
    await expect(agent.put(new Turn(add, { a: 1, b: 2 }))).rejects.toThrow("no");
    expect(agent.turns).toHaveLength(0);
  });

  test("an afterPut hook that throws leaves the turn queued", async () => {
    const agent = agentWith([add], registry);
    agent.afterPut(async () => {
      throw new Error("late");
    });
    await expect(agent.put(new Turn(add, { a: 1, b: 2 }))).rejects.toThrow("late");
    expect(agent.turns).toHaveLength(1);
  });

  test("while the agent runs, the turn is executed in that run", async () => {
    const agent = agentWith([add], registry);
    await agent.put(new Turn(add, { a: 1, b: 0 }));
    const values: unknown[] = [];
    for await (const [, value] of agent.run()) {
      values.push(value);
      if (values.length < 3) await agent.put(new Turn(add, { a: 1, b: values.length }));
    }
    expect(values).toEqual([1, 2, 3]);
  });
});

describe("run", () => {
  test("yields a single value once and a stream value by value, in the order of the queue", async () => {
    const agent = agentWith([add, count], registry);
    const first = new Turn(count, { to: 3 });
    const second = new Turn(add, { a: 20, b: 22 });
    await agent.put(first);
    await agent.put(second);
    const seen: TurnValue[] = [];
    for await (const pair of agent.run()) seen.push(pair);
    expect(seen).toEqual([
      [first, 1],
      [first, 2],
      [first, 3],
      [second, 42],
    ]);
    expect(agent.turns).toEqual([]);
  });

  test("ends immediately on an empty queue", async () => {
    expect(await valuesOf(agentWith([add], registry).run())).toEqual([]);
  });

  test("checks its options at the call", () => {
    const agent = agentWith([add], registry);
    expect(() => agent.run({ wait: "yes" as never })).toThrow("wait: expected true or false");
    expect(() => agent.run({ signal: {} as never })).toThrow("signal: expected an AbortSignal");
    expect(() => agent.run({ graceMs: -1 })).toThrow("graceMs: expected");
    expect(() => agent.run({ timeout: 5 } as never)).toThrow("options.timeout: expected one of the options");
  });

  test("is claimed at the first next(), and a second run meanwhile is refused", async () => {
    const agent = agentWith([add], registry);
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    await agent.put(new Turn(add, { a: 2, b: 2 }));
    const first = agent.run();
    const second = agent.run();
    expect(agent.isRunning).toBe(false);
    await first.next();
    await expect(second.next()).rejects.toThrow(SafeExecutionError);
    expect(agent.isRunning).toBe(true);
    expect(await valuesOf(first)).toEqual([4]);
    expect(agent.isRunning).toBe(false);
  });

  test("an error drops the turn that failed, keeps the rest, and the agent can run again", async () => {
    const fail = tool("fail", "Fails.", {}, () => {
      throw new Error("broken");
    });
    const agent = agentWith([fail, add], registry);
    await agent.put(new Turn(fail));
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    await expect(valuesOf(agent.run())).rejects.toThrow("broken");
    expect(agent.isRunning).toBe(false);
    expect(agent.currentTurn).toBeNull();
    expect(await valuesOf(agent.run())).toEqual([2]);
  });

  test("a beforeTurn hook that throws leaves the turn in the queue", async () => {
    const agent = agentWith([add], registry);
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    const hooked = agent.beforeTurn(async () => {
      throw new Error("not now");
    });
    await expect(valuesOf(agent.run())).rejects.toThrow("not now");
    hooked.unregister();
    expect(await valuesOf(agent.run())).toEqual([2]);
  });

  test("an onTurnValue hook that throws ends the run and cleans up", async () => {
    const agent = agentWith([add], registry);
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    agent.onTurnValue(async () => {
      throw new Error("unseen");
    });
    await expect(valuesOf(agent.run())).rejects.toThrow("unseen");
    expect(agent.isRunning).toBe(false);
    expect(agent.currentTurn).toBeNull();
  });

  test("the current turn is set while its tool runs, and null before afterTurn fires", async () => {
    const seen: unknown[] = [];
    const look = tool("look", "Looks.", {}, (_input, { agent }) => {
      seen.push(agent?.currentTurn === turn);
    });
    const agent = agentWith([look], registry);
    const turn = new Turn(look);
    agent.afterTurn(async (it) => seen.push(it.currentTurn));
    await agent.put(turn);
    await valuesOf(agent.run());
    expect(seen).toEqual([true, null]);
  });
});

describe("a completion check", () => {
  const isDone = tool(
    {
      name: "is_done",
      description: "Done?",
      input: { done: Object },
      type: "completion_check",
      registry: false,
    },
    async ({ done }) => done["value"] as boolean,
  );

  test("that returns true ends the run after its value was yielded; the rest stays queued", async () => {
    const agent = agentWith([add, isDone], registry);
    const seen: string[] = [];
    agent.afterTurn(async (_agent, turn) => seen.push(turn.tool.name));
    await agent.put(new Turn(isDone, { done: { value: true } }));
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    expect(await valuesOf(agent.run())).toEqual([true]);
    expect(seen).toEqual(["is_done"]);
    expect(agent.turns).toHaveLength(1);
  });

  test("that returns false continues the run", async () => {
    const agent = agentWith([add, isDone], registry);
    await agent.put(new Turn(isDone, { done: { value: false } }));
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    expect(await valuesOf(agent.run())).toEqual([false, 2]);
  });

  test("that returns no boolean is an error", async () => {
    const agent = agentWith([isDone], registry);
    const turn = new Turn(isDone, { done: { value: 1 } });
    await agent.put(turn);
    await expect(valuesOf(agent.run())).rejects.toThrow(CompletionCheckReturnError);
    expect(turn.stopReason).toBe("error");
  });

  test("ends a run that waits at an empty queue", async () => {
    const agent = agentWith([add, isDone], registry);
    const run = agent.run({ wait: true });
    const first = run.next();
    await agent.put(new Turn(add, { a: 2, b: 3 }));
    expect((await first).value?.[1]).toBe(5);
    const second = run.next();
    await agent.put(new Turn(isDone, { done: { value: true } }));
    expect((await second).value?.[1]).toBe(true);
    expect((await run.next()).done).toBe(true);
  });
});

describe("attributes", () => {
  test("cannot be changed while the agent runs or is paused", async () => {
    const agent = agentWith([add], registry);
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    const run = agent.run();
    await run.next();
    expect(() => {
      agent.description = "new";
    }).toThrow("Cannot change property 'description' while the agent is running.");
    await run.return();
    agent.pause();
    expect(() => {
      agent.tags = ["new"];
    }).toThrow("Cannot change property 'tags' while the agent is paused.");
    expect(() => {
      agent.contextQueue = new ContextQueue({ limit: 1 });
    }).toThrow(SafeExecutionError);
    agent.resume();
    agent.description = "new";
    agent.tags = ["new"];
    expect([agent.description, [...agent.tags]]).toEqual(["new", ["new"]]);
  });

  test("are checked when the agent is made, before it is registered", () => {
    const make = (options: object) => () => new Agent({ name: "worker", tools: [], registry, ...options });
    expect(make({ name: "two words" })).toThrow("name: expected 1 to 64 letters");
    expect(make({ name: 5 })).toThrow(InvalidTypeError);
    expect(make({ tools: "add" })).toThrow("tools: expected a list of tools");
    expect(make({ tools: [add, {}] })).toThrow("tools[1]: expected a tool made by tool(), got {}");
    expect(make({ tools: ["nowhere"] })).toThrow(UnregisteredToolError);
    expect(make({ tools: [add, tool("add", "Another.", {}, () => 0)] })).toThrow("Duplicate tool name: add");
    expect(make({ contextQueue: [] })).toThrow("contextQueue: expected a ContextQueue");
    expect(make({ contextPool: 5 })).toThrow("contextPool: expected a ContextPool, got 5");
    expect(make({ tags: "io" })).toThrow("tags: expected a list or set of strings");
    expect(make({ descripton: "" })).toThrow("options.descripton: expected one of the options");
    expect(make({ registry: "mine" })).toThrow("registry: expected a Registry, or false");
    expect(registry.agents.all()).toEqual([]);
  });
});

describe("tools", () => {
  test("bring their subtools; one that is defined later is refused", async () => {
    const parent = tool({ name: "users", description: "Users.", registry }, async () => "users");
    const child = parent.subtool({ name: "create", description: "Create." }, async () => "created");
    const agent = agentWith([parent], registry);
    await agent.put(new Turn("users.create", {}, { registry }));
    expect(await valuesOf(agent.run())).toEqual(["created"]);
    const late = parent.subtool({ name: "remove", description: "Remove." }, async () => "removed");
    await expect(agent.put(new Turn(late))).rejects.toThrow(InvalidArgumentError);
    expect(child.name).toBe("users.create");
  });

  test("may be given by the name under which they are registered", async () => {
    tool({ name: "hello", description: "Greets.", registry }, async () => "hello");
    const agent = agentWith(["hello"], registry);
    await agent.put(new Turn("hello", {}, { registry }));
    expect(await valuesOf(agent.run())).toEqual(["hello"]);
  });

  test("that were unregistered or defined again since are refused", () => {
    const old = tool({ name: "hello", description: "Greets.", registry }, async () => "hello");
    registry.tools.unregister("hello");
    expect(() => agentWith([old], registry)).toThrow(UnregisteredToolError);
    tool({ name: "hello", description: "Greets anew.", registry }, async () => "hi");
    expect(() => agentWith([old], registry)).toThrow("not the instance given");
    expect(registry.agents.all()).toEqual([]);
  });
});

describe("the registry", () => {
  test("has each agent under its name, once", () => {
    const agent = agentWith([], registry);
    expect(registry.agents.get("worker")).toBe(agent);
    expect(() => agentWith([], registry)).toThrow("'worker' is already registered");
  });

  test("forgets an agent that is disposed, and only that one", () => {
    const first = agentWith([], registry);
    first[Symbol.dispose]();
    const second = agentWith([], registry);
    first[Symbol.dispose]();
    expect(registry.agents.get("worker")).toBe(second);
  });

  test("does not see an agent with `registry: false`, whose global hooks still fire", async () => {
    const seen: string[] = [];
    const agent = new Agent({ name: "private", tools: [add], registry: false });
    expect(agent.registry.agents.has("private")).toBe(false);
    const { hook } = await import("../index.ts");
    using _ = hook("agent.afterTurn", async (it) => seen.push(it.name));
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    await valuesOf(agent.run());
    expect(seen).toEqual(["private"]);
  });
});

test("a turn rejects an agent option that is not an agent", async () => {
  await expect(new Turn(add, { a: 1, b: 2 }).returning({ agent: "worker" as never })).rejects.toThrow(
    'agent: expected an Agent, got "worker"',
  );
});

test("who an agent and a turn are cannot be changed, also not while they run", async () => {
  const outcomes: unknown[] = [];
  const meddle = tool("meddle", "Meddles.", {}, (_input, { turn, agent }) => {
    for (const [target, key] of [
      [turn, "tool"],
      [turn, "uuid"],
      [turn, "registry"],
      [agent, "name"],
      [agent, "tools"],
    ] as const)
      try {
        Reflect.set(target as object, key, null);
      } catch (error) {
        outcomes.push(error);
      }
  });
  const agent = agentWith([meddle], registry);
  await agent.put(new Turn(meddle));
  await valuesOf(agent.run());
  expect(outcomes).toHaveLength(5);
  expect(outcomes.every((error) => error instanceof SafeExecutionError)).toBe(true);
});

describe("an error of a turn tells which turn it was", () => {
  test.each([
    ["an error", new Error("broken")],
    ["a frozen object", Object.freeze({ status: 500 })],
  ])("%s", async (_, thrown) => {
    const fail = tool("fail", "", {}, () => Promise.reject(thrown as Error));
    const outer = tool("outer", "", {}, () => fail.execute());
    const agent = agentWith([add, outer], registry);
    const turn = new Turn(outer);
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    await agent.put(turn);
    const error = await valuesOf(agent.run()).catch((it: unknown) => it);
    expect(error).toBe(thrown);
    expect(Turn.ofError(error)).toBe(turn);
  });

  test("also one of a hook, but not an abort", async () => {
    const agent = agentWith([add], registry);
    const turn = new Turn(add, { a: 1, b: 2 });
    turn.onComplete(async () => {
      throw new Error("hook");
    });
    await agent.put(turn);
    expect(Turn.ofError(await valuesOf(agent.run()).catch((it: unknown) => it))).toBe(turn);
    const reason = new Error("stop");
    const aborted = new Turn(add, { a: 1, b: 2 }).returning({ signal: AbortSignal.abort(reason) });
    await expect(aborted).rejects.toBe(reason);
    expect(Turn.ofError(reason)).toBeUndefined();
    expect(Turn.ofError("text")).toBeUndefined();
  });
});
