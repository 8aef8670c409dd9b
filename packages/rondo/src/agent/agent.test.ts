import { afterEach, describe, expect, test } from "vitest";
import {
  Agent,
  CompletionCheckReturnError,
  ContextItem,
  ContextQueue,
  InvalidArgumentError,
  InvalidTypeError,
  Registry,
  SafeExecutionError,
  setLogger,
  Turn,
  type TurnValue,
  tool,
  UnregisteredAgentError,
  UnregisteredToolError,
} from "../index.ts";
import { valuesOf } from "../testkit/values-of.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
  setLogger();
});

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const count = tool("count", "Count up.", { to: Number }, async function* ({ to }) {
  for (let n = 1; n <= to; n += 1) yield n;
});

function agentWith(...tools: ConstructorParameters<typeof Agent>[0]["tools"][]): Agent {
  return new Agent({ name: "worker", tools: tools.flatMap((list) => [...list]), registry });
}

describe("put", () => {
  test("queues a turn of one of the agent's tools, between beforePut and afterPut", async () => {
    const agent = agentWith([add]);
    const seen: string[] = [];
    agent.beforePut(async (it) => seen.push(`before ${it.turns.length}`));
    agent.afterPut(async (it) => seen.push(`after ${it.turns.length}`));
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    expect(seen).toEqual(["before 0", "after 1"]);
  });

  test("refuses what is not a turn, and says what came", async () => {
    const agent = agentWith([add]);
    await expect(agent.put("add" as never)).rejects.toThrow(InvalidTypeError);
    await expect(agent.put(undefined as never)).rejects.toThrow("turn: expected a Turn, got nothing.");
    expect(agent.turns).toEqual([]);
  });

  test("refuses a turn whose tool the agent does not have", async () => {
    const agent = agentWith([add]);
    const refused = agent.put(new Turn(count, { to: 1 }));
    await expect(refused).rejects.toThrow(InvalidArgumentError);
    await expect(refused).rejects.toThrow("'worker' (add), got \"count\"");
  });

  test("refuses a turn of another tool of the same name", async () => {
    const agent = agentWith([add]);
    const other = tool("add", "Another.", {}, () => 0);
    await expect(agent.put(new Turn(other))).rejects.toThrow("not the instance given");
  });

  test("a beforePut hook that throws keeps the turn out", async () => {
    const agent = agentWith([add]);
    agent.beforePut(async () => {
      throw new Error("no");
    });
    await expect(agent.put(new Turn(add, { a: 1, b: 2 }))).rejects.toThrow("no");
    expect(agent.turns).toHaveLength(0);
  });

  test("an afterPut hook that throws leaves the turn queued", async () => {
    const agent = agentWith([add]);
    agent.afterPut(async () => {
      throw new Error("late");
    });
    await expect(agent.put(new Turn(add, { a: 1, b: 2 }))).rejects.toThrow("late");
    expect(agent.turns).toHaveLength(1);
  });

  test("while the agent runs, the turn is executed in that run", async () => {
    const agent = agentWith([add]);
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
    const agent = agentWith([add, count]);
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

  test("ends at once on an empty queue", async () => {
    expect(await valuesOf(agentWith([add]).run())).toEqual([]);
  });

  test("checks its options at the call", () => {
    const agent = agentWith([add]);
    expect(() => agent.run({ wait: "yes" as never })).toThrow("wait: expected true or false");
    expect(() => agent.run({ signal: {} as never })).toThrow("signal: expected an AbortSignal");
    expect(() => agent.run({ graceMs: -1 })).toThrow("graceMs: expected");
    expect(() => agent.run({ timeout: 5 } as never)).toThrow("options.timeout: expected one of the options");
  });

  test("is claimed at the first next(), and a second run meanwhile is refused", async () => {
    const agent = agentWith([add]);
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
    const agent = agentWith([fail, add]);
    await agent.put(new Turn(fail));
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    await expect(valuesOf(agent.run())).rejects.toThrow("broken");
    expect(agent.isRunning).toBe(false);
    expect(agent.currentTurn).toBeNull();
    expect(await valuesOf(agent.run())).toEqual([2]);
  });

  test("a beforeTurn hook that throws leaves the turn in the queue", async () => {
    const agent = agentWith([add]);
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    const hooked = agent.beforeTurn(async () => {
      throw new Error("not now");
    });
    await expect(valuesOf(agent.run())).rejects.toThrow("not now");
    hooked.unregister();
    expect(await valuesOf(agent.run())).toEqual([2]);
  });

  test("an onTurnValue hook that throws ends the run and cleans up", async () => {
    const agent = agentWith([add]);
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
    const agent = agentWith([look]);
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
    const agent = agentWith([add, isDone]);
    const seen: string[] = [];
    agent.afterTurn(async (_agent, turn) => seen.push(turn.tool.name));
    await agent.put(new Turn(isDone, { done: { value: true } }));
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    expect(await valuesOf(agent.run())).toEqual([true]);
    expect(seen).toEqual(["is_done"]);
    expect(agent.turns).toHaveLength(1);
  });

  test("that returns false lets the run go on", async () => {
    const agent = agentWith([add, isDone]);
    await agent.put(new Turn(isDone, { done: { value: false } }));
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    expect(await valuesOf(agent.run())).toEqual([false, 2]);
  });

  test("that returns no boolean is an error", async () => {
    const agent = agentWith([isDone]);
    const turn = new Turn(isDone, { done: { value: 1 } });
    await agent.put(turn);
    await expect(valuesOf(agent.run())).rejects.toThrow(CompletionCheckReturnError);
    expect(turn.stopReason).toBe("error");
  });

  test("ends a run that waits at an empty queue", async () => {
    const agent = agentWith([add, isDone]);
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

describe("routing", () => {
  test("a returned turn is put and executed in the same run, and not yielded", async () => {
    const inner = new Turn(add, { a: 4, b: 5 });
    const decide = tool("decide", "Decides.", {}, () => inner);
    const agent = agentWith([decide, add]);
    const outer = new Turn(decide);
    await agent.put(outer);
    expect(await valuesOf(agent.run())).toEqual([9]);
    expect(outer.output).toBe(inner);
  });

  test("a returned turn of a tool that the agent does not have is an error", async () => {
    const decide = tool("decide", "Decides.", {}, () => new Turn(add, { a: 1, b: 1 }));
    const agent = agentWith([decide]);
    await agent.put(new Turn(decide));
    await expect(valuesOf(agent.run())).rejects.toThrow(InvalidArgumentError);
  });

  test("a context item without an id goes to the queue, one with an id to the pool; neither is yielded", async () => {
    const note = tool("note", "Notes.", {}, () => new ContextItem({ content: "seen" }));
    const keep = tool(
      "keep",
      "Keeps.",
      {},
      () => new ContextItem({ content: "kept", id: "k", description: "A thing" }),
    );
    const agent = agentWith([note, keep]);
    await agent.put(new Turn(note));
    await agent.put(new Turn(keep));
    expect(await valuesOf(agent.run())).toEqual([]);
    expect(agent.contextQueue.history()).toBe("seen");
    expect(agent.contextPool.catalogue()).toBe("- [k] A thing");
  });

  test("a context item with an id but no description is an error", async () => {
    const keep = tool("keep", "Keeps.", {}, () => new ContextItem({ content: "kept", id: "k" }));
    const agent = agentWith([keep]);
    await agent.put(new Turn(keep));
    await expect(valuesOf(agent.run())).rejects.toThrow("item.description: expected a string, got null");
  });

  test("each value of a stream is routed as it comes, and the list of them is not routed again", async () => {
    const mixed = tool("mixed", "Mixes.", {}, async function* () {
      yield 1;
      yield new ContextItem({ content: "noted" });
      yield new Turn(add, { a: 10, b: 10 });
      yield 2;
    });
    const agent = agentWith([mixed, add]);
    await agent.put(new Turn(mixed));
    expect(await valuesOf(agent.run())).toEqual([1, 2, 20]);
    expect(agent.contextQueue.items.map(({ content }) => content)).toEqual(["noted"]);
  });

  test("the result of a stream is routed or yielded last", async () => {
    const build = tool("build", "Builds.", {}, async function* () {
      yield "50%";
      yield "100%";
      return { built: true };
    });
    const next = tool("next", "Goes on.", {}, async function* () {
      yield "going on";
      return new Turn(add, { a: 1, b: 2 });
    });
    const agent = agentWith([build, next, add]);
    await agent.put(new Turn(build));
    await agent.put(new Turn(next));
    expect(await valuesOf(agent.run())).toEqual(["50%", "100%", { built: true }, "going on", 3]);
  });

  test("a returned list of turns is a plain value", async () => {
    const turns = [new Turn(add, { a: 1, b: 1 })];
    const list = tool("list", "Lists.", {}, () => turns);
    const agent = agentWith([list, add]);
    await agent.put(new Turn(list));
    expect(await valuesOf(agent.run())).toEqual([turns]);
    expect(agent.turns).toEqual([]);
  });

  test("null and undefined are plain values too", async () => {
    const nothing = tool("nothing", "Nothing.", {}, () => undefined);
    const nulls = tool("nulls", "Nulls.", {}, async function* () {
      yield null;
      yield undefined;
    });
    const agent = agentWith([nothing, nulls]);
    await agent.put(new Turn(nothing));
    await agent.put(new Turn(nulls));
    expect(await valuesOf(agent.run())).toEqual([undefined, null, undefined]);
  });

  test("onTurnValue sees routed values too, after they were routed", async () => {
    const note = tool("note", "Notes.", {}, () => new ContextItem({ content: "seen" }));
    const agent = agentWith([note]);
    const seen: unknown[] = [];
    agent.onTurnValue(async (it, _turn, value) =>
      seen.push([value instanceof ContextItem, it.contextQueue.size]),
    );
    await agent.put(new Turn(note));
    await valuesOf(agent.run());
    expect(seen).toEqual([[true, 1]]);
  });
});

describe("context", () => {
  test("reaches a tool through its second argument, each agent its own", async () => {
    const look = tool("look", "Looks.", {}, (_input, { agent, contextQueue, contextPool }) => [
      agent?.name,
      contextQueue === agent?.contextQueue,
      contextPool === agent?.contextPool,
    ]);
    const [one, other] = ["one", "other"].map((name) => new Agent({ name, tools: [look], registry }));
    const seen: unknown[] = [];
    for (const agent of [one, other]) {
      await agent?.put(new Turn(look));
      seen.push(...(await valuesOf((agent as Agent).run())));
    }
    expect(seen).toEqual([
      ["one", true, true],
      ["other", true, true],
    ]);
  });

  test("is not there outside an agent, also after a turn has run in one", async () => {
    const look = tool(
      "look",
      "Looks.",
      {},
      (_input, context) => "contextQueue" in context || "agent" in context,
    );
    const agent = agentWith([look]);
    const turn = new Turn(look);
    await agent.put(turn);
    expect(await valuesOf(agent.run())).toEqual([true]);
    expect(await turn.returning()).toBe(false);
  });
});

describe("the order of hooks", () => {
  test("for one turn is put, turn, run, invoke, value, turn", async () => {
    const order: string[] = [];
    const log = (name: string) => async () => {
      order.push(name);
    };
    const step = tool("step", "Steps.", {}, () => {
      order.push("fn");
      return 1;
    });
    const agent = agentWith([step]);
    const turn = new Turn(step);
    agent.beforePut(log("beforePut"));
    agent.afterPut(log("afterPut"));
    agent.onPause(log("onPause"));
    agent.onResume(log("onResume"));
    agent.beforeTurn(log("beforeTurn"));
    agent.onTurnValue(log("onTurnValue"));
    agent.afterTurn(log("afterTurn"));
    agent.onComplete(log("agent onComplete"));
    turn.beforeRun(log("beforeRun"));
    turn.afterRun(log("afterRun"));
    turn.onComplete(log("onComplete"));
    step.beforeInvoke(log("beforeInvoke"));
    step.afterInvoke(log("afterInvoke"));

    const atGate = new Promise<void>((resolve) => {
      agent.onPause(async () => resolve());
    });

    agent.pause();
    await agent.put(turn);
    const run = agent.run();
    const first = run.next();
    await atGate;
    agent.resume();
    await first;
    order.push("yielded");
    await run.next();
    expect(order).toEqual([
      "beforePut",
      "afterPut",
      "onPause",
      "onResume",
      "beforeTurn",
      "beforeRun",
      "beforeInvoke",
      "fn",
      "afterInvoke",
      "afterRun",
      "onComplete",
      "agent onComplete",
      "onTurnValue",
      "yielded",
      "afterTurn",
    ]);
  });

  test("an agent's onError, onTimeout and onComplete follow its turns alone, and are not left on them", async () => {
    const fail = tool("fail", "Fails.", {}, () => {
      throw new Error("broken");
    });
    const hang = tool(
      { name: "hang", description: "Hangs.", timeoutMs: 5, registry: false },
      async (_input, { signal }) => {
        await new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        );
      },
    );
    const agent = agentWith([fail, hang]);
    const seen: unknown[] = [];
    agent.onError(async (_turn, error) => seen.push((error as Error).message));
    agent.onTimeout(async (turn) => seen.push(`timeout of ${turn.tool.name}`));
    agent.onComplete(async (_turn, stopReason) => seen.push(stopReason));
    const failing = new Turn(fail);
    await agent.put(failing);
    await agent.put(new Turn(hang));
    await expect(valuesOf(agent.run())).rejects.toThrow("broken");
    await expect(valuesOf(agent.run())).rejects.toThrow("more than its 5 ms");
    expect(seen).toEqual(["broken", "error", "timeout of hang", "timeout"]);
    await expect(failing.returning()).rejects.toThrow("broken");
    expect(seen).toHaveLength(4);
    expect(failing.hooks).toEqual([]);
  });
});

describe("pausing", () => {
  test("does not interrupt the turn under way; the next one waits for resume()", async () => {
    const pausing = tool("pausing", "Pauses.", {}, (_input, { agent }) => {
      agent?.pause();
      return "completed";
    });
    const agent = agentWith([pausing, add]);
    await agent.put(new Turn(pausing));
    await agent.put(new Turn(add, { a: 2, b: 2 }));
    const atGate = new Promise<void>((resolve) => {
      agent.onPause(async () => resolve());
    });
    const run = agent.run();
    expect((await run.next()).value?.[1]).toBe("completed");
    const second = run.next();
    await atGate;
    expect(agent.turns).toHaveLength(1);
    agent.resume();
    expect((await second).value?.[1]).toBe(4);
  });

  test("is idempotent, and onPause fires only at the gate with work left", async () => {
    const agent = agentWith([add]);
    const seen: string[] = [];
    agent.onPause(async () => seen.push("pause"));
    agent.onResume(async () => seen.push("resume"));
    agent.pause();
    agent.pause();
    expect(agent.isPaused).toBe(true);
    expect(await valuesOf(agent.run())).toEqual([]);
    expect(seen).toEqual([]);
    agent.resume();
    agent.resume();
    expect(agent.isPaused).toBe(false);
  });

  test("allows put(), and run() waits at the gate", async () => {
    const agent = agentWith([add]);
    agent.pause();
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    const paused = new Promise<void>((resolve) => {
      agent.onPause(async () => resolve());
    });
    const values = valuesOf(agent.run());
    await paused;
    await agent.put(new Turn(add, { a: 2, b: 2 }));
    expect(agent.turns).toHaveLength(2);
    agent.resume();
    expect(await values).toEqual([2, 4]);
  });

  test("a run at the gate can be aborted and left", async () => {
    const agent = agentWith([add]);
    agent.pause();
    await agent.put(new Turn(add, { a: 1, b: 1 }));
    const controller = new AbortController();
    const aborted = valuesOf(agent.run({ signal: controller.signal }));
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");

    const left = agent.run();
    const pending = left.next();
    await left.return();
    expect((await pending).done).toBe(true);
    expect(agent.turns).toHaveLength(1);
    agent.resume();
    expect(await valuesOf(agent.run())).toEqual([2]);
  });
});

describe("attributes", () => {
  test("cannot be changed while the agent runs or is paused", async () => {
    const agent = agentWith([add]);
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
    const agent = agentWith([parent]);
    await agent.put(new Turn("users.create", {}, { registry }));
    expect(await valuesOf(agent.run())).toEqual(["created"]);
    const late = parent.subtool({ name: "remove", description: "Remove." }, async () => "removed");
    await expect(agent.put(new Turn(late))).rejects.toThrow(InvalidArgumentError);
    expect(child.name).toBe("users.create");
  });

  test("may be given by the name under which they are registered", async () => {
    tool({ name: "hello", description: "Greets.", registry }, async () => "hello");
    const agent = agentWith(["hello"]);
    await agent.put(new Turn("hello", {}, { registry }));
    expect(await valuesOf(agent.run())).toEqual(["hello"]);
  });

  test("that were unregistered or defined again since are refused", () => {
    const old = tool({ name: "hello", description: "Greets.", registry }, async () => "hello");
    registry.tools.unregister("hello");
    expect(() => agentWith([old])).toThrow(UnregisteredToolError);
    tool({ name: "hello", description: "Greets anew.", registry }, async () => "hi");
    expect(() => agentWith([old])).toThrow("not the instance given");
    expect(registry.agents.all()).toEqual([]);
  });
});

describe("send", () => {
  test("puts a turn at another agent of the registry, with its rules and hooks", async () => {
    const one = new Agent({ name: "one", tools: [], registry });
    const other = new Agent({ name: "other", tools: [add], registry });
    const seen: string[] = [];
    other.beforePut(async (agent) => seen.push(agent.name));
    await one.send("other", new Turn(add, { a: 1, b: 2 }));
    expect(seen).toEqual(["other"]);
    expect(await valuesOf(other.run())).toEqual([3]);
    await expect(one.send("other", new Turn(count, { to: 1 }))).rejects.toThrow(InvalidArgumentError);
    await expect(one.send("nobody", new Turn(add, { a: 1, b: 2 }))).rejects.toThrow(UnregisteredAgentError);
  });
});

describe("branch", () => {
  test("inherits description, tools, tags, hooks, context and queued turns, and is independent", async () => {
    const agent = new Agent({ name: "worker", description: "Works.", tools: [add], tags: ["t"], registry });
    const seen: string[] = [];
    agent.afterTurn(async (it) => seen.push(it.name));
    agent.onComplete(async (turn) => seen.push(turn.tool.name));
    await agent.contextQueue.append(new ContextItem({ content: "before" }));
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    agent.pause();

    const child = agent.branch("child");
    expect(child.isPaused).toBe(false);
    expect([child.description, child.tools, [...child.tags]]).toEqual(["Works.", [add], ["t"]]);
    expect(registry.agents.get("child")).toBe(child);
    await child.contextQueue.append(new ContextItem({ content: "after" }));
    expect(agent.contextQueue.history()).toBe("before");

    agent.resume();
    const both = await Promise.all([valuesOf(agent.run()), valuesOf(child.run())]);
    expect(both).toEqual([[3], [3]]);
    expect(seen.toSorted()).toEqual(["add", "add", "child", "worker"]);
  });

  test("has turns of its own: both can run them at the same time", async () => {
    const agent = agentWith([add]);
    const turn = new Turn(add, { a: 1, b: 2 }, { metadata: { n: 1 } });
    await agent.put(turn);
    const [copy] = agent.branch("child").turns;
    expect(copy).not.toBe(turn);
    expect(copy?.uuid).not.toBe(turn.uuid);
    expect(copy?.input).toEqual(turn.input);
    if (copy) copy.metadata["n"] = 2;
    expect(turn.metadata).toEqual({ n: 1 });
  });

  test("leaves the turn under way out", async () => {
    const agent = agentWith([count]);
    await agent.put(new Turn(count, { to: 2 }));
    const run = agent.run();
    await run.next();
    const child = agent.branch("child");
    expect(child.turns).toEqual([]);
    expect(child.currentTurn).toBeNull();
    await run.return();
  });

  test("takes another description, other tools, and no hooks or chosen ones", async () => {
    const agent = agentWith([add, count]);
    const seen: string[] = [];
    const kept = agent.afterTurn(async (it) => seen.push(it.name));
    expect(agent.branch("plain", { description: "Plain.", tools: [count], hooks: [] })).toMatchObject({
      description: "Plain.",
      tools: [count],
      hooks: [],
    });
    expect(agent.branch("none", { hooks: null }).hooks).toEqual([]);
    expect(agent.branch("chosen", { hooks: [kept] }).hooks).toHaveLength(1);
  });

  test("with tools that a queued turn lacks is refused, and nothing is registered", async () => {
    const agent = agentWith([add, count]);
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    expect(() => agent.branch("child", { tools: [count] })).toThrow(
      "one of the tools of the agent 'child' (count)",
    );
    expect(registry.agents.has("child")).toBe(false);
  });
});

describe("the registry", () => {
  test("has each agent under its name, once", () => {
    const agent = agentWith([]);
    expect(registry.agents.get("worker")).toBe(agent);
    expect(() => agentWith([])).toThrow("'worker' is already registered");
  });

  test("forgets an agent that is disposed, and only that one", () => {
    const first = agentWith([]);
    first[Symbol.dispose]();
    const second = agentWith([]);
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

test("a branch with hooks that are none is refused before it is registered", () => {
  const agent = agentWith([add]);
  expect(() => agent.branch("child", { hooks: ["x"] as never })).toThrow(InvalidTypeError);
  expect(registry.agents.has("child")).toBe(false);
});

test("a turn cannot run on behalf of what is no agent", async () => {
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
  const agent = agentWith([meddle]);
  await agent.put(new Turn(meddle));
  await valuesOf(agent.run());
  expect(outcomes).toHaveLength(5);
  expect(outcomes.every((error) => error instanceof SafeExecutionError)).toBe(true);
});

test("a branch takes any iterable of tools", async () => {
  const agent = agentWith([add]);
  await agent.put(new Turn(add, { a: 1, b: 2 }));
  const child = agent.branch("child", { tools: [add].values() });
  expect(await valuesOf(child.run())).toEqual([3]);
});
