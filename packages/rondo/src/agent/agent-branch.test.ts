import { afterEach, describe, expect, test } from "vitest";
import { InvalidTypeError, UnregisteredAgentError } from "../errors.ts";
import { Agent, ContextItem, InvalidArgumentError, Registry, Turn } from "../index.ts";
import { valuesOf } from "../testkit/values-of.ts";
import { add, agentWith, count } from "./testkit/agent-kit.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
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

  test("has its own turns: both can run them at the same time", async () => {
    const agent = agentWith([add], registry);
    const turn = new Turn(add, { a: 1, b: 2 }, { metadata: { n: 1 } });
    await agent.put(turn);
    const [copy] = agent.branch("child").turns;
    expect(copy).not.toBe(turn);
    expect(copy?.uuid).not.toBe(turn.uuid);
    expect(copy?.input).toEqual(turn.input);
    if (copy) copy.metadata["n"] = 2;
    expect(turn.metadata).toEqual({ n: 1 });
  });

  test("does not include the current turn", async () => {
    const agent = agentWith([count], registry);
    await agent.put(new Turn(count, { to: 2 }));
    const run = agent.run();
    await run.next();
    const child = agent.branch("child");
    expect(child.turns).toEqual([]);
    expect(child.currentTurn).toBeNull();
    await run.return();
  });

  test("takes another description, other tools, and no hooks or chosen ones", async () => {
    const agent = agentWith([add, count], registry);
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
    const agent = agentWith([add, count], registry);
    await agent.put(new Turn(add, { a: 1, b: 2 }));
    expect(() => agent.branch("child", { tools: [count] })).toThrow(
      "one of the tools of the agent 'child' (count)",
    );
    expect(registry.agents.has("child")).toBe(false);
  });
});

test("a branch with hooks that are none is refused before it is registered", () => {
  const agent = agentWith([add], registry);
  expect(() => agent.branch("child", { hooks: ["x"] as never })).toThrow(InvalidTypeError);
  expect(registry.agents.has("child")).toBe(false);
});

test("a branch takes any iterable of tools", async () => {
  const agent = agentWith([add], registry);
  await agent.put(new Turn(add, { a: 1, b: 2 }));
  const child = agent.branch("child", { tools: [add].values() });
  expect(await valuesOf(child.run())).toEqual([3]);
});
