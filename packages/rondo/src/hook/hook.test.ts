import { afterEach, describe, expect, test } from "vitest";
import { InvalidTypeError, UnregisteredHookError } from "../errors.ts";
import {
  ContextItem,
  ContextQueue,
  HookRegistry,
  hook,
  InvalidArgumentError,
  literal,
  Registry,
  SafeExecutionError,
  Turn,
  tool,
} from "../index.ts";

let registry = new Registry();
afterEach(() => {
  registry = new Registry();
  HookRegistry.clear();
});

const item = new ContextItem({ content: "text" });

function makeQueue(tags: string[] = []): ContextQueue {
  return new ContextQueue({ limit: 5, tags, registry });
}

function makeTool() {
  return tool({ name: "echo", description: "", input: { text: String }, registry }, async ({ text }) => text);
}

describe("hook()", () => {
  test("gives a hook that knows its name, events, tags and description", () => {
    const made = hook(["turn.beforeRun", "turn.afterRun"], async function audit() {}, {
      tags: ["a"],
      description: "writes it down",
      registry,
    });
    expect(made.name).toBe("audit");
    expect(made.events).toEqual(["turn.beforeRun", "turn.afterRun"]);
    expect([...made.tags]).toEqual(["a"]);
    expect(made.description).toBe("writes it down");
    expect(made.lock).toBeNull();
  });

  test("goes by 'anonymous' when its function has no name", () => {
    expect(hook("turn.beforeRun", async () => {}, { registry }).name).toBe("anonymous");
  });

  test("registers in the default registry unless told otherwise", () => {
    const made = hook("turn.beforeRun", async () => {});
    expect(HookRegistry.all()).toEqual([made]);
    expect(registry.hooks.all()).toEqual([]);
  });

  test("requires at least one event", () => {
    const register = () => hook([], async () => {}, { registry });
    expect(register).toThrow(InvalidArgumentError);
    expect(register).toThrow("events: expected at least one event, got an array of 0");
    expect(registry.hooks.all()).toEqual([]);
  });

  test("refuses an event that does not exist, and lists those that do", () => {
    const register = () => hook(["turn.beforeRun", "turn.onStart" as never], async () => {}, { registry });
    expect(register).toThrow(InvalidArgumentError);
    expect(register).toThrow(/events: expected one of .*turn\.beforeRun.*, got "turn\.onStart"/);
    expect(registry.hooks.all()).toEqual([]);
  });

  test.each([undefined, 42, {}])("refuses %s instead of an event", (events) => {
    const register = () => hook(events as never, async () => {}, { registry });
    expect(register).toThrow(InvalidTypeError);
    expect(register).toThrow("events: expected an event, or a list of events");
  });

  test("follows an event once that is named twice", async () => {
    const seen: unknown[] = [];
    hook(["queue.afterClear", "queue.afterClear"], async () => seen.push(1), { registry });
    await makeQueue().clear();
    expect(seen).toEqual([1]);
  });

  test.each([
    ["a plain function", () => {}],
    ["a plain function that returns a promise", () => Promise.resolve()],
    ["a generator", function* () {}],
    ["an async generator", async function* () {}],
    ["no function", "log"],
    ["nothing", undefined],
  ])("refuses %s with a TypeError", (_kind, fn) => {
    const register = () => hook("turn.beforeRun", fn as never, { registry });
    expect(register).toThrow(TypeError);
    expect(register).toThrow("hook: expected an async function");
    expect(registry.hooks.all()).toEqual([]);
  });

  test.each([
    ["lock", { lock: "yes" }],
    ["fixed", { fixed: ["a"] }],
    ["fixed", { fixed: null }],
    ["fixed", { fixed: 0 }],
    ["tags", { tags: "a" }],
    ["description", { description: 1 }],
    ["registry", { registry: {} }],
    ["registry", { registry: false }],
    ["options.tag", { tag: "a" }],
  ])("refuses a wrong %s and registers nothing", (field, options) => {
    expect(() => hook("turn.beforeRun", async () => {}, options as never)).toThrow(`${field}: expected`);
    expect(HookRegistry.all()).toEqual([]);
  });

  test("gets each event's own arguments when it follows several, and the context last", async () => {
    const seen: unknown[][] = [];
    const queue = makeQueue();
    hook(
      ["queue.beforeAppend", "queue.afterAppend", "queue.afterClear"],
      async (...args) => seen.push(args),
      {
        registry,
      },
    );
    await queue.append(item);
    await queue.clear();
    const context = expect.objectContaining({ queue, fixed: {} });
    expect(seen).toEqual([
      [queue, [item], [], context],
      [[item], [item], context],
      [queue, context],
    ]);
  });
});

describe("a hook attached to an object", () => {
  test("fires for that object alone", async () => {
    const [one, other] = [makeQueue(), makeQueue()];
    const seen: unknown[] = [];
    one.afterClear(async (queue) => seen.push(queue));
    await other.clear();
    await one.clear();
    expect(seen).toEqual([one]);
  });

  test("is listed among the hooks of the object, and not in the registry", () => {
    const queue = makeQueue();
    const attached = queue.afterClear(async () => {});
    expect(queue.hooks).toEqual([attached]);
    expect(attached.events).toEqual(["queue.afterClear"]);
    expect(registry.hooks.all()).toEqual([]);
  });

  test("must be an async function", () => {
    const queue = makeQueue();
    expect(() => queue.afterClear((() => {}) as never)).toThrow(TypeError);
    expect(queue.hooks).toEqual([]);
  });

  test("refuses options that make no sense for one object", () => {
    const attach = () => makeQueue().afterClear(async () => {}, { tags: ["a"] } as never);
    expect(attach).toThrow("options.tags: expected one of the options lock, fixed, description");
  });

  test("can be attached elsewhere too, for another event, and each attachment ends on its own", async () => {
    const [one, other] = [makeQueue(), makeQueue()];
    const seen: unknown[] = [];
    const first = one.beforeClear(async (queue) => seen.push(queue === one ? "one" : "other"));
    other.afterClear(first);
    await one.clear();
    await other.clear();
    expect(first.unregister()).toBe(true);
    await one.clear();
    await other.clear();
    expect(seen).toEqual(["one", "other", "other"]);
  });

  test.each([{ lock: true }, { fixed: { a: 1 } }, { description: "x" }])(
    "keeps its own options: an existing hook attached with %s is refused",
    (options) => {
      const queue = makeQueue();
      const attached = queue.afterClear(async () => {});
      expect(() => queue.beforeClear(attached, options)).toThrow(InvalidArgumentError);
      expect(queue.hooks).toEqual([attached]);
    },
  );

  test("takes new options when its function is attached again for another event", async () => {
    const queue = makeQueue();
    const seen: unknown[] = [];
    const note = async (...args: unknown[]) => seen.push((args.at(-1) as { fixed: unknown }).fixed);
    queue.beforeClear(note, { fixed: { when: "before" } });
    queue.afterClear(note, { fixed: { when: "after" } });
    await queue.clear();
    expect(seen).toEqual([{ when: "before" }, { when: "after" }]);
  });
});

describe("two hooks of one name", () => {
  test("are both registered and both fire", async () => {
    const seen: number[] = [];
    const makeHook = (id: number) =>
      hook(
        "queue.afterClear",
        async function audit() {
          seen.push(id);
        },
        { registry },
      );
    makeHook(1);
    makeHook(2);
    await makeQueue().clear();
    expect(seen).toEqual([1, 2]);
  });

  test("are both attached to one object and both fire", async () => {
    const seen: number[] = [];
    const queue = makeQueue();
    for (const id of [1, 2])
      queue.afterClear(async function audit() {
        seen.push(id);
      });
    await queue.clear();
    expect(seen).toEqual([1, 2]);
  });
});

describe("one function on two events of an object", () => {
  test("fires for the right event each", async () => {
    const turn = new Turn(makeTool(), { text: "a" });
    const seen: number[] = [];
    const note = async (...args: unknown[]) => seen.push(args.length);
    turn.beforeRun(note);
    turn.afterRun(note);
    await turn.returning();
    // (turn, context), then (turn, output, context).
    expect(seen).toEqual([2, 3]);
  });

  test("can be detached from one of them", async () => {
    const queue = makeQueue();
    const seen: unknown[] = [];
    const note = async (...args: unknown[]) => seen.push(args.length);
    queue.beforeClear(note).unregister();
    queue.afterClear(note);
    await queue.clear();
    expect(seen).toEqual([2]);
  });
});

describe("unregistering", () => {
  test("of a global hook ends it, and returns whether it existed", async () => {
    const seen: unknown[] = [];
    const made = hook("queue.afterClear", async () => seen.push(1), { registry });
    expect(made.unregister()).toBe(true);
    expect(made.unregister()).toBe(false);
    await makeQueue().clear();
    expect(seen).toEqual([]);
    expect(registry.hooks.all()).toEqual([]);
  });

  test("by the object at the registry ends one of two hooks of the same name", async () => {
    const seen: number[] = [];
    const make = (id: number) =>
      hook(
        "queue.afterClear",
        async function note() {
          seen.push(id);
        },
        { registry },
      );
    const [first] = [make(1), make(2)];
    expect(registry.hooks.unregister(first)).toBe(true);
    await makeQueue().clear();
    expect(seen).toEqual([2]);
  });

  test("by name ends all hooks of that name, for all their events", async () => {
    const seen: unknown[] = [];
    const make = () =>
      hook(
        ["queue.beforeClear", "queue.afterClear"],
        async function note() {
          seen.push(1);
        },
        { registry },
      );
    make();
    make();
    expect(registry.hooks.unregister("note")).toBe(true);
    expect(registry.hooks.unregister("note")).toBe(false);
    await makeQueue().clear();
    expect(seen).toEqual([]);
  });

  test("happens at the end of a block with `using`", async () => {
    const seen: unknown[] = [];
    const queue = makeQueue();
    {
      using global = hook("queue.afterClear", async () => seen.push("global"), { registry });
      using own = queue.afterClear(async () => seen.push("own"));
      expect([...queue.hooks, ...registry.hooks.all()]).toEqual([own, global]);
      await queue.clear();
    }
    await queue.clear();
    expect(seen).toEqual(["own", "global"]);
    expect(queue.hooks).toEqual([]);
  });

  test("a hook from inside itself makes it fire once", async () => {
    const seen: unknown[] = [];
    const queue = makeQueue();
    const once = queue.afterClear(async () => {
      seen.push(1);
      once.unregister();
    });
    await queue.clear();
    await queue.clear();
    expect(seen).toEqual([1]);
  });
});

describe("a hook with a lock", () => {
  test("runs one call after the other, also for different objects", async () => {
    const log: string[] = [];
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const started = gates.map(() => Promise.withResolvers<void>());
    let calls = 0;
    hook(
      "queue.afterClear",
      async () => {
        const call = calls;
        calls += 1;
        log.push(`start ${call}`);
        started[call]?.resolve();
        await gates[call]?.promise;
        log.push(`end ${call}`);
      },
      { lock: true, registry },
    );
    const clears = [makeQueue().clear(), makeQueue().clear()];
    await started[0]?.promise;
    gates[1]?.resolve();
    // Every tick that the second call could use to start, if nothing held it back.
    await new Promise(setImmediate);
    expect(log).toEqual(["start 0"]);
    gates[0]?.resolve();
    await Promise.all(clears);
    expect(log).toEqual(["start 0", "end 0", "start 1", "end 1"]);
  });

  test("overlaps without one", async () => {
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const both = Promise.withResolvers<void>();
    hook(
      "queue.afterClear",
      async () => {
        log.push("start");
        if (log.length === 2) both.resolve();
        await gate.promise;
        log.push("end");
      },
      { registry },
    );
    const clears = [makeQueue().clear(), makeQueue().clear()];
    await both.promise;
    gate.resolve();
    await Promise.all(clears);
    expect(log).toEqual(["start", "start", "end", "end"]);
  });

  test("is free again after it has thrown", async () => {
    const queue = makeQueue();
    let calls = 0;
    queue.afterClear(
      async () => {
        calls += 1;
        throw new Error(`call ${calls}`);
      },
      { lock: true },
    );
    await expect(queue.clear()).rejects.toThrow("call 1");
    await expect(queue.clear()).rejects.toThrow("call 2");
  });

  test("that causes its own event gets an error instead of a deadlock", async () => {
    const queue = makeQueue();
    queue.afterClear(async () => queue.clear(), { lock: true });
    await expect(queue.clear()).rejects.toThrow(SafeExecutionError);
  });
});

describe("fixed values of a hook", () => {
  test("reach it in its context", async () => {
    const queue = makeQueue();
    const seen: unknown[] = [];
    queue.afterClear(async (_queue, { fixed }) => seen.push(fixed), { fixed: { level: "info", n: 0 } });
    await queue.clear();
    expect(seen).toEqual([{ level: "info", n: 0 }]);
  });

  test("that are functions, async or not, are called for each event and not before", async () => {
    let calls = 0;
    const seen: unknown[] = [];
    hook("queue.afterClear", async (_queue, { fixed }) => seen.push(fixed), {
      fixed: {
        sync: () => {
          calls += 1;
          return calls;
        },
        async: async () => calls * 10,
      },
      registry,
    });
    expect(calls).toBe(0);
    const queue = makeQueue();
    await queue.clear();
    await queue.clear();
    expect(seen).toEqual([
      { sync: 1, async: 10 },
      { sync: 2, async: 20 },
    ]);
  });

  test("pass a function through if it is literal", async () => {
    const send = () => "sent";
    const queue = makeQueue();
    const seen: unknown[] = [];
    queue.afterClear(async (_queue, { fixed }) => seen.push(fixed["send"]), {
      fixed: { send: literal(send) },
    });
    await queue.clear();
    expect(seen).toEqual([send]);
  });

  test("are not changed by changing the options afterwards", async () => {
    const fixed = { level: "info" };
    const queue = makeQueue();
    const seen: unknown[] = [];
    queue.afterClear(async (_queue, context) => seen.push(context.fixed), { fixed });
    fixed.level = "debug";
    await queue.clear();
    expect(seen).toEqual([{ level: "info" }]);
  });

  test("are each hook's own", async () => {
    const queue = makeQueue();
    const seen: unknown[] = [];
    queue.afterClear(async (_queue, { fixed }) => seen.push(fixed), { fixed: { mine: 1 } });
    queue.afterClear(async (_queue, { fixed }) => seen.push(fixed));
    await queue.clear();
    expect(seen).toEqual([{ mine: 1 }, {}]);
  });
});

describe("the hooks of a registry", () => {
  test("are found by name, the first of them", () => {
    const first = hook("turn.beforeRun", async function audit() {}, { registry });
    hook("turn.afterRun", async function audit() {}, { registry });
    expect(registry.hooks.get("audit")).toBe(first);
  });

  test("say which names there are when one is missing", () => {
    hook("turn.beforeRun", async function audit() {}, { registry });
    expect(() => registry.hooks.get("log")).toThrow(UnregisteredHookError);
    expect(() => registry.hooks.get("log")).toThrow("The hook 'log' was not found. Registered: audit.");
  });

  test("for an event are all that follow it, in the order in which they were registered", () => {
    const first = hook(["turn.beforeRun", "turn.afterRun"], async () => {}, { registry });
    hook("turn.onError", async () => {}, { registry });
    const last = hook("turn.afterRun", async () => {}, { registry });
    expect(registry.hooks.forEvent("turn.afterRun")).toEqual([first, last]);
  });

  test("for an event that none follows are none", () => {
    hook("turn.beforeRun", async () => {}, { registry });
    expect(registry.hooks.forEvent("pool.onEvict")).toEqual([]);
  });

  test("do not change when the same hook is registered again", () => {
    const made = hook("turn.beforeRun", async () => {}, { registry });
    registry.hooks.register(made);
    expect(registry.hooks.all()).toEqual([made]);
    expect(registry.hooks.forEvent("turn.beforeRun")).toEqual([made]);
  });

  test("are all forgotten by clear()", async () => {
    const seen: unknown[] = [];
    hook("queue.afterClear", async () => seen.push(1), { registry });
    registry.hooks.clear();
    await makeQueue().clear();
    expect(seen).toEqual([]);
    expect(registry.hooks.all()).toEqual([]);
  });
});
