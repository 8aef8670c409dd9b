import { afterEach, describe, expect, test } from "vitest";
import { Agent, ContextItem, InvalidArgumentError, Registry, Turn, tool } from "../index.ts";
import { valuesOf } from "../testkit/values-of.ts";
import { add, agentWith } from "./testkit/agent-kit.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
});

describe("routing", () => {
  test("a returned turn is put and executed in the same run, and not yielded", async () => {
    const inner = new Turn(add, { a: 4, b: 5 });
    const decide = tool("decide", "Decides.", {}, () => inner);
    const agent = agentWith([decide, add], registry);
    const outer = new Turn(decide);
    await agent.put(outer);
    expect(await valuesOf(agent.run())).toEqual([9]);
    expect(outer.output).toBe(inner);
  });

  test("a returned turn of a tool that the agent does not have is an error", async () => {
    const decide = tool("decide", "Decides.", {}, () => new Turn(add, { a: 1, b: 1 }));
    const agent = agentWith([decide], registry);
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
    const agent = agentWith([note, keep], registry);
    await agent.put(new Turn(note));
    await agent.put(new Turn(keep));
    expect(await valuesOf(agent.run())).toEqual([]);
    expect(agent.contextQueue.history()).toBe("seen");
    expect(agent.contextPool.catalogue()).toBe("- [k] A thing");
  });

  test("a context item with an id but no description is an error", async () => {
    const keep = tool("keep", "Keeps.", {}, () => new ContextItem({ content: "kept", id: "k" }));
    const agent = agentWith([keep], registry);
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
    const agent = agentWith([mixed, add], registry);
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
    const agent = agentWith([build, next, add], registry);
    await agent.put(new Turn(build));
    await agent.put(new Turn(next));
    expect(await valuesOf(agent.run())).toEqual(["50%", "100%", { built: true }, "going on", 3]);
  });

  test("a returned list of turns is a plain value", async () => {
    const turns = [new Turn(add, { a: 1, b: 1 })];
    const list = tool("list", "Lists.", {}, () => turns);
    const agent = agentWith([list, add], registry);
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
    const agent = agentWith([nothing, nulls], registry);
    await agent.put(new Turn(nothing));
    await agent.put(new Turn(nulls));
    expect(await valuesOf(agent.run())).toEqual([undefined, null, undefined]);
  });

  test("onTurnValue sees routed values too, after they were routed", async () => {
    const note = tool("note", "Notes.", {}, () => new ContextItem({ content: "seen" }));
    const agent = agentWith([note], registry);
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
    const agent = agentWith([look], registry);
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
    const agent = agentWith([step], registry);
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

  test("an agent's onError, onTimeout and onComplete follow its turns only, and are removed from them afterwards", async () => {
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
    const agent = agentWith([fail, hang], registry);
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
