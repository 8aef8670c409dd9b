import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidJsonError, InvalidTypeError } from "../errors.ts";
import { ContextItem, ContextQueue, hook, InvalidArgumentError, Registry } from "../index.ts";

const item = (content: unknown) => new ContextItem({ content });
const contents = (items: Iterable<ContextItem>) => [...items].map(({ content }) => content);

function makeQueue(limit = 3): ContextQueue {
  return new ContextQueue({ limit, registry: new Registry() });
}

async function queueOf(limit: number, ...values: unknown[]): Promise<ContextQueue> {
  const queue = makeQueue(limit);
  await queue.append(...values.map(item));
  return queue;
}

describe("a context queue", () => {
  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("refuses a limit of %s", (limit) => {
    expect(() => new ContextQueue({ limit })).toThrow(InvalidArgumentError);
    expect(() => new ContextQueue({ limit })).toThrow("limit: expected a whole number from 1");
  });

  test.each([undefined, null, "3"])("refuses %s as a limit", (limit) => {
    expect(() => new ContextQueue({ limit: limit as never })).toThrow(InvalidTypeError);
  });

  test("refuses an option that it does not know", () => {
    expect(() => new ContextQueue({ limit: 1, size: 2 } as never)).toThrow("options.size");
  });

  test("is empty at first", () => {
    const queue = makeQueue();
    expect(queue.size).toBe(0);
    expect([...queue]).toEqual([]);
    expect(queue.history()).toBe("");
  });

  test("keeps items in the order in which they came", async () => {
    const queue = await queueOf(3, "a", "b");
    await queue.append(item("c"));
    expect(contents(queue)).toEqual(["a", "b", "c"]);
    expect(queue.size).toBe(3);
  });

  test("forgets the oldest when it is full", async () => {
    const queue = await queueOf(2, "a", "b", "c", "d");
    expect(contents(queue)).toEqual(["c", "d"]);
  });

  test("holds exactly one item with a limit of 1", async () => {
    const queue = await queueOf(1, "a", "b");
    expect(contents(queue)).toEqual(["b"]);
  });

  test("gives its items as a copy", async () => {
    const queue = await queueOf(3, "a");
    queue.items.push(item("b"));
    expect(contents(queue)).toEqual(["a"]);
  });

  test("can be iterated while it changes", async () => {
    const queue = await queueOf(2, "a", "b");
    const seen: unknown[] = [];
    for (const { content } of queue) {
      seen.push(content);
      await queue.append(item("c"));
    }
    expect(seen).toEqual(["a", "b"]);
  });
});

describe("items that are assigned", () => {
  test("replace all others, without hooks", async () => {
    const queue = await queueOf(2, "a");
    const fired: string[] = [];
    queue.beforeAppend(async () => fired.push("beforeAppend"));
    queue.onEvict(async () => fired.push("onEvict"));
    queue.beforeClear(async () => fired.push("beforeClear"));
    const list = [item("b"), item("c")];
    queue.items = list;
    list.pop();
    expect(contents(queue)).toEqual(["b", "c"]);
    expect(fired).toEqual([]);
  });

  test("must be items, and no more than fit", async () => {
    const queue = await queueOf(2, "a");
    expect(() => Object.assign(queue, { items: [item("b"), "c"] })).toThrow(
      "items[1]: expected a ContextItem",
    );
    expect(() => Object.assign(queue, { items: ["b", "c", "d"].map(item) })).toThrow(InvalidArgumentError);
    expect(contents(queue)).toEqual(["a"]);
  });
});

describe("append", () => {
  test("changes nothing and fires no hook if an item has the wrong type", async () => {
    const queue = await queueOf(3, "a");
    const fired: string[] = [];
    queue.beforeAppend(async () => fired.push("beforeAppend"));
    queue.afterAppend(async () => fired.push("afterAppend"));
    const append = queue.append(item("b"), "c" as never, item("d"));
    await expect(append).rejects.toThrow(TypeError);
    await expect(append).rejects.toThrow('items[1]: expected a ContextItem, got "c"');
    expect(contents(queue)).toEqual(["a"]);
    expect(fired).toEqual([]);
  });

  test("fires beforeAppend once with all that comes, and afterAppend with all that came", async () => {
    const queue = await queueOf(3, "a");
    const fired: unknown[] = [];
    queue.beforeAppend(async (it, incoming, current) =>
      fired.push(["before", it === queue, contents(incoming), contents(current), contents(queue)]),
    );
    queue.afterAppend(async (appended, current) =>
      fired.push(["after", contents(appended), contents(current), contents(queue)]),
    );
    await queue.append(item("b"), item("c"));
    expect(fired).toEqual([
      ["before", true, ["b", "c"], ["a"], ["a"]],
      ["after", ["b", "c"], ["a", "b", "c"], ["a", "b", "c"]],
    ]);
  });

  test("fires onEvict for each item that makes room, while it is still present", async () => {
    const queue = await queueOf(2, "a", "b");
    const fired: unknown[] = [];
    queue.onEvict(async (it, oldest) => fired.push([it === queue, oldest.content, contents(queue)]));
    await queue.append(item("c"), item("d"));
    expect(fired).toEqual([
      [true, "a", ["a", "b"]],
      [true, "b", ["b", "c"]],
    ]);
  });

  test("evicts items that it has just appended when more come than fit", async () => {
    const queue = makeQueue(1);
    const evicted: unknown[] = [];
    queue.onEvict(async (_queue, oldest) => evicted.push(oldest.content));
    await queue.append(item("a"), item("b"), item("c"));
    expect(evicted).toEqual(["a", "b"]);
    expect(contents(queue)).toEqual(["c"]);
  });

  test("of nothing still fires its hooks, once", async () => {
    const queue = makeQueue();
    const fired: unknown[] = [];
    queue.beforeAppend(async (_queue, incoming) => fired.push(["before", incoming]));
    queue.afterAppend(async (appended) => fired.push(["after", appended]));
    await queue.append();
    expect(fired).toEqual([
      ["before", []],
      ["after", []],
    ]);
  });

  test("is not affected by a beforeAppend hook that changes its snapshots", async () => {
    const queue = await queueOf(3, "a");
    queue.beforeAppend(async (_queue, incoming, current) => {
      (incoming as ContextItem[]).push(item("x"));
      (current as ContextItem[]).length = 0;
    });
    await queue.append(item("b"));
    expect(contents(queue)).toEqual(["a", "b"]);
  });

  test("keeps all items out when a beforeAppend hook throws, and evicts nothing", async () => {
    const queue = await queueOf(1, "a");
    const evicted: unknown[] = [];
    queue.onEvict(async (_queue, oldest) => evicted.push(oldest));
    queue.beforeAppend(async () => {
      throw new Error("vetoed");
    });
    await expect(queue.append(item("b"))).rejects.toThrow("vetoed");
    expect(contents(queue)).toEqual(["a"]);
    expect(evicted).toEqual([]);
  });

  test("keeps the oldest item when its onEvict hook throws", async () => {
    const queue = await queueOf(1, "a");
    queue.onEvict(async () => {
      throw new Error("precious");
    });
    await expect(queue.append(item("b"))).rejects.toThrow("precious");
    expect(contents(queue)).toEqual(["a"]);
  });

  test("has appended when an afterAppend hook throws", async () => {
    const queue = makeQueue();
    queue.afterAppend(async () => {
      throw new Error("late");
    });
    await expect(queue.append(item("a"))).rejects.toThrow("late");
    expect(contents(queue)).toEqual(["a"]);
  });
});

describe("concurrent appends", () => {
  test("never exceed the limit, without any hook", async () => {
    const queue = makeQueue(2);
    await Promise.all(["a", "b", "c", "d"].map((value) => queue.append(item(value))));
    expect(contents(queue)).toEqual(["c", "d"]);
  });

  test("never exceed the limit and never lose an item without onEvict, however slow the hooks are", async () => {
    const values = ["a", "b", "c", "d", "e", "f"];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(fc.nat(9)), async (limit, delays) => {
        const queue = await queueOf(limit, "x", "y", "z");
        const kept = [...queue];
        const evicted = new Set<ContextItem>();
        const sizes: number[] = [];
        queue.onEvict(async (_queue, oldest) => {
          evicted.add(oldest);
          for (let ticks = delays.shift() ?? 0; ticks > 0; ticks -= 1) await Promise.resolve();
          sizes.push(queue.size);
        });
        queue.afterAppend(async (_appended, current) => sizes.push(current.length));
        const incoming = values.map(item);
        await Promise.all(incoming.map((one) => queue.append(one)));
        expect(Math.max(...sizes)).toBe(limit);
        expect(queue.size).toBe(limit);
        expect(new Set([...evicted, ...queue])).toEqual(new Set([...kept, ...incoming]));
      }),
    );
  });

  test("keeps an item that was appended while onEvict handled an older one", async () => {
    const queue = await queueOf(1, "a");
    const gate = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    queue.onEvict(async () => {
      started.resolve();
      await gate.promise;
    });
    const appending = queue.append(item("b"));
    await started.promise;
    queue.items = [];
    gate.resolve();
    await appending;
    expect(contents(queue)).toEqual(["b"]);
  });
});

describe("clear", () => {
  test("fires beforeClear with what there is, and afterClear when it is gone", async () => {
    const queue = await queueOf(3, "a", "b");
    const fired: unknown[] = [];
    queue.beforeClear(async (it, current) =>
      fired.push(["before", it === queue, contents(current), it.size]),
    );
    queue.afterClear(async (it) => fired.push(["after", it === queue, it.size]));
    await queue.clear();
    expect(fired).toEqual([
      ["before", true, ["a", "b"], 2],
      ["after", true, 0],
    ]);
  });

  test("keeps the items when a beforeClear hook throws", async () => {
    const queue = await queueOf(3, "a");
    queue.beforeClear(async () => {
      throw new Error("kept");
    });
    await expect(queue.clear()).rejects.toThrow("kept");
    expect(contents(queue)).toEqual(["a"]);
  });
});

test.each([null, 5, "ab", {}])("items cannot be replaced by %o", async (items) => {
  const queue = await queueOf(2, "a");
  const replace = () => {
    queue.items = items as never;
  };
  expect(replace).toThrow(InvalidTypeError);
  expect(replace).toThrow("items: expected a list of ContextItems");
  expect(contents(queue)).toEqual(["a"]);
});

describe("history", () => {
  test("joins the contents by lines", async () => {
    expect((await queueOf(3, "a", "b", "c")).history()).toBe("a\nb\nc");
  });

  test("takes the newest items only, if told how many", async () => {
    expect((await queueOf(3, "a", "b", "c")).history(2)).toBe("b\nc");
  });

  test("of the last 0 items is empty", async () => {
    expect((await queueOf(3, "a", "b")).history(0)).toBe("");
  });

  test("of more items than there are is all of them", async () => {
    expect((await queueOf(3, "a", "b")).history(99)).toBe("a\nb");
  });

  test("shows what is not text as JSON", async () => {
    expect((await queueOf(5, { a: 1 }, [true], null, 7)).history()).toBe('{"a":1}\n[true]\nnull\n7');
  });

  test("shows what JSON cannot say as text", async () => {
    expect((await queueOf(5, 12n, undefined)).history()).toBe("12\nundefined");
    const bare: unknown = Object.assign(Object.create(null), { n: 1n });
    expect((await queueOf(5, "a", bare)).history()).toBe("a\nan object with n");
  });

  test.each([-1, 1.5, Number.NaN, "2" as never])("refuses %s as a number of items", (last) => {
    expect(() => makeQueue().history(last)).toThrow("last: expected a whole number from 0");
  });
});

describe("a branch of a queue", () => {
  test("starts with the same items, limit, tags and registry", async () => {
    const registry = new Registry();
    const queue = new ContextQueue({ limit: 3, tags: ["notes"], registry });
    await queue.append(item("a"), item("b"));
    const branch = queue.branch();
    expect(contents(branch)).toEqual(["a", "b"]);
    expect(branch.limit).toBe(3);
    expect([...branch.tags]).toEqual(["notes"]);
    expect(branch.registry).toBe(registry);
  });

  test("is independent in both directions", async () => {
    const queue = await queueOf(3, "a");
    const branch = queue.branch();
    await branch.append(item("b"));
    await queue.append(item("c"));
    expect(contents(branch)).toEqual(["a", "b"]);
    expect(contents(queue)).toEqual(["a", "c"]);
  });

  test("keeps the newest items that fit a smaller limit", async () => {
    const branch = (await queueOf(3, "a", "b", "c")).branch({ limit: 2 });
    expect(contents(branch)).toEqual(["b", "c"]);
    expect(branch.limit).toBe(2);
  });

  test("fires no hooks when it is made", async () => {
    const registry = new Registry();
    const queue = new ContextQueue({ limit: 2, registry });
    await queue.append(item("a"), item("b"));
    const fired: unknown[] = [];
    queue.onEvict(async () => fired.push("own"));
    hook(["queue.onEvict", "queue.beforeAppend", "queue.beforeClear"], async () => fired.push("global"), {
      registry,
    });
    queue.branch({ limit: 1 });
    expect(fired).toEqual([]);
  });

  test("inherits the hooks, and detaching one of them leaves the other queue's alone", async () => {
    const queue = makeQueue();
    const seen: unknown[] = [];
    const own = queue.beforeAppend(async (it) => seen.push(it));
    const branch = queue.branch();
    own.unregister();
    await branch.append(item("a"));
    await queue.append(item("b"));
    expect(seen).toEqual([branch]);
  });

  test.each([null, []])("has no hooks with hooks: %s", async (hooks) => {
    const queue = makeQueue();
    queue.beforeAppend(async () => {});
    expect(queue.branch({ hooks }).hooks).toEqual([]);
    expect(queue.hooks).toHaveLength(1);
  });

  test("has only the hooks that it is given", async () => {
    const queue = makeQueue();
    const seen: string[] = [];
    queue.beforeAppend(async () => seen.push("left out"));
    const chosen = queue.afterAppend(async () => seen.push("chosen"));
    await queue.branch({ hooks: [chosen] }).append(item("a"));
    expect(seen).toEqual(["chosen"]);
  });

  test("refuses hooks that are none", () => {
    expect(() => makeQueue().branch({ hooks: ["x"] as never })).toThrow("hooks[0]: expected a Hook");
    expect(() => makeQueue().branch({ hooks: "x" as never })).toThrow("hooks: expected a list of hooks");
  });

  test("is of the same type for a subclass", async () => {
    class Diary extends ContextQueue {
      newest(): unknown {
        return this.items.at(-1)?.content;
      }
    }
    const diary = new Diary({ limit: 2, registry: new Registry() });
    await diary.append(item("a"));
    const branch = diary.branch();
    expect(branch).toBeInstanceOf(Diary);
    expect(branch.newest()).toBe("a");
  });

  test("refuses a limit that is none", () => {
    expect(() => makeQueue().branch({ limit: 0 })).toThrow(InvalidArgumentError);
  });
});

describe("a saved queue", () => {
  test("has its format version, limit, items and tags, and no hooks", async () => {
    const queue = new ContextQueue({ limit: 2, tags: ["t"], registry: new Registry() });
    queue.afterAppend(async () => {});
    await queue.append(item("a"));
    expect(queue.toJSON()).toEqual({
      version: 1,
      limit: 2,
      items: [{ id: null, description: null, content: "a" }],
      tags: ["t"],
    });
  });

  test("is restored without hooks being fired", async () => {
    const registry = new Registry();
    const fired: unknown[] = [];
    hook(["queue.beforeAppend", "queue.onEvict", "queue.afterAppend"], async () => fired.push(1), {
      registry,
    });
    const json = (await queueOf(2, "a", "b")).toJSON();
    const queue = ContextQueue.fromJSON(json, { registry });
    expect(contents(queue)).toEqual(["a", "b"]);
    expect(fired).toEqual([]);
    await queue.append(item("c"));
    expect(fired).toHaveLength(3);
  });

  test("may lack its items and tags", () => {
    const queue = ContextQueue.fromJSON({ limit: 4 });
    expect(queue.size).toBe(0);
    expect(queue.limit).toBe(4);
    expect(queue.tags.size).toBe(0);
  });

  test.each([
    ["contextQueue", null],
    ["contextQueue.limit", {}],
    ["contextQueue.limit", { limit: 0 }],
    ["contextQueue.limit", { limit: "2" }],
    ["contextQueue.items", { limit: 2, items: {} }],
    ["contextQueue.items[1]", { limit: 2, items: [{ content: 1 }, 2] }],
    ["contextQueue.items[0].id", { limit: 2, items: [{ content: 1, id: 2 }] }],
    ["contextQueue.tags[0]", { limit: 2, tags: [1] }],
    ["contextQueue.version", { version: 2, limit: 2 }],
  ])("that is malformed at %s is refused with that path", (path, json) => {
    expect(() => ContextQueue.fromJSON(json)).toThrow(InvalidJsonError);
    expect(() => ContextQueue.fromJSON(json)).toThrow(`Cannot read ${path}:`);
  });
});
