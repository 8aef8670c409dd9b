import { afterEach, describe, expect, test } from "vitest";
import {
  Agent,
  AgentRegistry,
  ContextItem,
  ContextPool,
  ContextQueue,
  HookRegistry,
  hook,
  Registry,
  ToolRegistry,
  Turn,
  tool,
} from "../index.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
  for (const part of [ToolRegistry, AgentRegistry, HookRegistry]) part.clear();
});

function makeQueue(tags: string[] = [], home = registry): ContextQueue {
  return new ContextQueue({ limit: 5, tags, registry: home });
}

describe("the hooks of an event", () => {
  test("fire in order: the object's first as attached, then the global ones as registered", async () => {
    const queue = makeQueue();
    const seen: string[] = [];
    hook("queue.afterClear", async () => seen.push("global 1"), { registry });
    queue.afterClear(async () => seen.push("own 1"));
    hook("queue.afterClear", async () => seen.push("global 2"), { registry });
    queue.afterClear(async () => seen.push("own 2"));
    await queue.clear();
    expect(seen).toEqual(["own 1", "own 2", "global 1", "global 2"]);
  });

  test("fire one at a time: each is awaited before the next starts", async () => {
    const queue = makeQueue();
    const seen: string[] = [];
    const gate = Promise.withResolvers<void>();
    queue.afterClear(async () => {
      seen.push("first starts");
      await gate.promise;
      seen.push("first ends");
    });
    hook("queue.afterClear", async () => seen.push("second"), { registry });
    const clearing = queue.clear();
    await new Promise(setImmediate);
    expect(seen).toEqual(["first starts"]);
    gate.resolve();
    await clearing;
    expect(seen).toEqual(["first starts", "first ends", "second"]);
  });

  test("stop at the first that throws, whose very error propagates", async () => {
    const queue = makeQueue();
    const seen: string[] = [];
    const error = new Error("no");
    queue.beforeClear(async () => seen.push("own"));
    hook(
      "queue.beforeClear",
      async () => {
        throw error;
      },
      { registry },
    );
    hook("queue.beforeClear", async () => seen.push("never"), { registry });
    await expect(queue.clear()).rejects.toBe(error);
    expect(seen).toEqual(["own"]);
  });

  test("are those that were there when the event began", async () => {
    const queue = makeQueue();
    const seen: string[] = [];
    queue.afterClear(async () => {
      seen.push("old");
      queue.afterClear(async () => seen.push("new"));
    });
    await queue.clear();
    expect(seen).toEqual(["old"]);
    await queue.clear();
    expect(seen).toEqual(["old", "old", "new"]);
  });
});

describe("the same hook", () => {
  test("fires once when it is on the object and global", async () => {
    const queue = makeQueue();
    const seen: unknown[] = [];
    const global = hook("queue.afterClear", async () => seen.push(1), { registry });
    queue.afterClear(global);
    await queue.clear();
    expect(seen).toEqual([1]);
  });

  test("fires once when its bare function is on the object and global", async () => {
    const queue = makeQueue();
    const seen: unknown[] = [];
    const note = async () => seen.push(1);
    queue.afterClear(note);
    hook("queue.afterClear", note, { registry });
    await queue.clear();
    expect(seen).toEqual([1]);
  });

  test("fires once when its function was registered before: nothing is wrapped twice", async () => {
    const seen: unknown[] = [];
    const note = async () => seen.push(1);
    hook("queue.afterClear", note, { registry });
    hook(["queue.afterClear", "queue.beforeClear"], note, { registry });
    await makeQueue().clear();
    // Once for beforeClear, once for afterClear.
    expect(seen).toEqual([1, 1]);
  });

  test("fires once when it is attached to an object twice", async () => {
    const queue = makeQueue();
    const seen: unknown[] = [];
    const note = async () => seen.push(1);
    queue.afterClear(note);
    queue.afterClear(note);
    await queue.clear();
    expect(seen).toEqual([1]);
  });

  test("fires once when several of its tags match", async () => {
    const seen: unknown[] = [];
    const note = async () => seen.push(1);
    hook("queue.afterClear", note, { tags: ["a", "b"], registry });
    hook("queue.afterClear", note, { tags: ["b"], registry });
    await makeQueue(["a", "b"]).clear();
    expect(seen).toEqual([1]);
  });

  test("fires at the place of its first attachment", async () => {
    const queue = makeQueue();
    const seen: string[] = [];
    const note = async () => seen.push("shared");
    hook("queue.afterClear", async () => seen.push("global"), { registry });
    hook("queue.afterClear", note, { registry });
    queue.afterClear(note);
    await queue.clear();
    expect(seen).toEqual(["shared", "global"]);
  });

  test("still fires from the registry after it was taken off the object", async () => {
    const queue = makeQueue();
    const seen: unknown[] = [];
    const note = async () => seen.push(1);
    hook("queue.afterClear", note, { registry });
    queue.afterClear(note).unregister();
    await queue.clear();
    expect(seen).toEqual([1]);
  });

  test("fires for both tools that it is attached to, each in its own run", async () => {
    const seen: unknown[] = [];
    const [one, other] = ["one", "other"].map((name) =>
      tool({ name, description: "", registry }, async () => name),
    );
    const shared = one?.beforeInvoke(async (_input, context) => seen.push(context.tool?.name));
    if (shared) other?.beforeInvoke(shared);
    await one?.execute();
    await other?.execute();
    expect(seen).toEqual(["one", "other"]);
  });

  test("fires once per event on an object that was restored from JSON", async () => {
    const seen: unknown[] = [];
    const shared = hook(
      ["queue.beforeClear", "queue.afterClear"],
      async (...args) => seen.push(args.length),
      {
        registry,
      },
    );
    const queue = ContextQueue.fromJSON(makeQueue().toJSON(), { registry });
    queue.afterClear(shared);
    await queue.clear();
    expect(seen).toEqual([3, 2]);
  });
});

describe("the same function with other options", () => {
  test.each([{ fixed: { level: "info" } }, { lock: true }])("is another hook: %s", async (options) => {
    const queue = makeQueue();
    const seen: unknown[] = [];
    const note = async () => seen.push(1);
    queue.afterClear(note);
    queue.afterClear(note, options);
    await queue.clear();
    expect(seen).toEqual([1, 1]);
  });
});

describe("a global hook with tags", () => {
  test("fires for objects that share at least one of them", async () => {
    const seen: unknown[] = [];
    hook("queue.afterClear", async (queue) => seen.push([...queue.tags].join()), {
      tags: ["a", "b"],
      registry,
    });
    for (const tags of [["a"], ["b", "c"], ["a", "b"], ["c"]]) await makeQueue(tags).clear();
    expect(seen).toEqual(["a", "b,c", "a,b"]);
  });

  test("never fires for an object without tags", async () => {
    const seen: unknown[] = [];
    hook("queue.afterClear", async () => seen.push(1), { tags: ["a"], registry });
    await makeQueue().clear();
    expect(seen).toEqual([]);
  });

  test("fires whatever the tags if it is attached to the object itself", async () => {
    const seen: unknown[] = [];
    const tagged = hook("queue.afterClear", async () => seen.push(1), { tags: ["a"], registry });
    const queue = makeQueue(["b"]);
    queue.afterClear(tagged);
    await queue.clear();
    expect(seen).toEqual([1]);
  });

  test("covers all kinds of objects", async () => {
    const seen: unknown[] = [];
    const tags = ["audit"];
    hook(
      ["tool.beforeInvoke", "turn.beforeRun", "agent.beforeTurn", "queue.beforeAppend", "pool.beforeAdd"],
      async (...args) => {
        const context = Object.keys(args.at(-1) as object);
        seen.push(context.filter((key) => key !== "signal" && key !== "fixed").join());
      },
      { tags, registry },
    );
    const note = tool(
      { name: "note", description: "", tags, registry },
      async () => new ContextItem({ content: 1 }),
    );
    const name = tool(
      { name: "name", description: "", tags, registry },
      async () => new ContextItem({ content: 1, id: "a", description: "" }),
    );
    const agent = new Agent({
      name: "clerk",
      tools: [note, name],
      contextQueue: new ContextQueue({ limit: 2, tags, registry }),
      contextPool: new ContextPool({ tags, registry }),
      tags,
      registry,
    });
    await agent.put(new Turn(note, {}, { tags }));
    await agent.put(new Turn(name, {}, { tags }));
    await Array.fromAsync(agent.run());
    expect(seen).toEqual([
      "agent,turn,tool",
      "tool,turn,agent",
      "tool,turn,agent",
      "queue",
      "agent,turn,tool",
      "tool,turn,agent",
      "tool,turn,agent",
      "pool",
    ]);
  });

  test("goes by the tags of each object: a tool's do not count for its turn", async () => {
    const seen: string[] = [];
    hook("tool.beforeInvoke", async () => seen.push("tool"), { tags: ["a"], registry });
    hook("turn.beforeRun", async () => seen.push("turn"), { tags: ["a"], registry });
    const tagged = tool({ name: "tagged", description: "", tags: ["a"], registry }, async () => 1);
    await new Turn(tagged).returning();
    expect(seen).toEqual(["tool"]);
  });
});

describe("a global hook without tags", () => {
  test("fires for all objects, tagged or not", async () => {
    const seen: unknown[] = [];
    hook("queue.afterClear", async (queue) => seen.push(queue.tags.size), { registry });
    await makeQueue().clear();
    await makeQueue(["a"]).clear();
    expect(seen).toEqual([0, 1]);
  });

  test("fires for every tool of the process, by default", async () => {
    const seen: unknown[] = [];
    hook("tool.beforeInvoke", async (_input, { tool }) => seen.push(tool?.name));
    await tool({ name: "one", description: "" }, async () => 1).execute();
    await tool({ name: "other", description: "" }, async () => 1).execute();
    expect(seen).toEqual(["one", "other"]);
  });
});

describe("hooks of two registries", () => {
  test("do not see each other's objects", async () => {
    const seen: string[] = [];
    const other = new Registry();
    hook("queue.afterClear", async () => seen.push("here"), { registry });
    hook("queue.afterClear", async () => seen.push("there"), { registry: other });
    hook("queue.afterClear", async () => seen.push("default"));
    await makeQueue([], registry).clear();
    await makeQueue([], other).clear();
    await new ContextQueue({ limit: 1 }).clear();
    expect(seen).toEqual(["here", "there", "default"]);
  });

  test("the default one also serves tools that are registered nowhere", async () => {
    const seen: unknown[] = [];
    hook("tool.beforeInvoke", async (_input, { tool }) => seen.push(tool?.name));
    await tool("short", "", {}, () => 1).execute();
    await tool({ name: "hidden", description: "", registry: false }, async () => 1).execute();
    expect(seen).toEqual(["short", "hidden"]);
  });
});

describe("a hook for the turns of an agent", () => {
  test("fires once if it is on the turn too", async () => {
    const seen: unknown[] = [];
    const note = async (_turn: Turn, stopReason: string) => seen.push(stopReason);
    const work = tool({ name: "work", description: "", registry }, async () => 1);
    const agent = new Agent({ name: "clerk", tools: [work], registry });
    const turn = new Turn(work);
    agent.onComplete(note);
    turn.onComplete(note);
    await turn.returning({ agent });
    expect(seen).toEqual(["completed"]);
  });

  test("is inherited by a branch of the agent", async () => {
    const seen: unknown[] = [];
    const work = tool({ name: "work", description: "", registry }, async () => 1);
    const agent = new Agent({ name: "clerk", tools: [work], registry });
    agent.onComplete(async (_turn, stopReason, context) => seen.push([stopReason, context.agent?.name]));
    const branch = agent.branch("twin");
    await branch.put(new Turn(work));
    await Array.fromAsync(branch.run());
    expect(seen).toEqual([["completed", "twin"]]);
  });
});
