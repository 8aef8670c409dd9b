import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidJsonError, InvalidTypeError, MissingContextItemError } from "../errors.ts";
import { ContextItem, ContextPool, hook, InvalidArgumentError, Registry } from "../index.ts";

const item = (id: string, content: unknown = id) =>
  new ContextItem({ id, content, description: `about ${id}` });
const ids = (items: Iterable<ContextItem>) => [...items].map(({ id }) => id);

function makePool(limit: number | null = null): ContextPool {
  return new ContextPool({ limit, registry: new Registry() });
}

async function poolOf(limit: number | null, ...names: string[]): Promise<ContextPool> {
  const pool = makePool(limit);
  for (const name of names) await pool.add(item(name));
  return pool;
}

describe("a context pool", () => {
  test("has no limit unless given one", async () => {
    const names = Array.from({ length: 100 }, (_, index) => `item${index}`);
    const pool = await poolOf(null, ...names);
    expect(new ContextPool().limit).toBeNull();
    expect(pool.size).toBe(100);
  });

  test.each([0, -1, 1.5, Number.POSITIVE_INFINITY])("refuses a limit of %s", (limit) => {
    expect(() => new ContextPool({ limit })).toThrow(InvalidArgumentError);
    expect(() => new ContextPool({ limit })).toThrow("limit: expected a whole number from 1");
  });

  test("refuses an option that it does not know", () => {
    expect(() => new ContextPool({ max: 1 } as never)).toThrow("options.max");
  });

  test("finds items by id", async () => {
    const pool = await poolOf(null, "a", "b");
    expect(pool.get("b").content).toBe("b");
    expect(pool.has("b")).toBe(true);
    expect(pool.has("c")).toBe(false);
  });

  test("says which items there are when one is missing", async () => {
    const pool = await poolOf(null, "a", "b");
    expect(() => pool.get("c")).toThrow(MissingContextItemError);
    expect(() => pool.get("c")).toThrow("no item 'c'. It has: a, b.");
    expect(() => makePool().get("c")).toThrow("The pool is empty.");
  });

  test("finds no item by what is not a string", () => {
    expect(() => makePool().get(1 as never)).toThrow(InvalidTypeError);
  });

  test("gives its items as a copy, oldest first", async () => {
    const pool = await poolOf(null, "a", "b");
    pool.items.pop();
    expect(ids(pool)).toEqual(["a", "b"]);
  });

  test("lists its items for a prompt, in the order in which they came", async () => {
    expect((await poolOf(null, "b", "a")).catalogue()).toBe("- [b] about b\n- [a] about a");
  });

  test("lists nothing when it is empty", () => {
    expect(makePool().catalogue()).toBe("");
  });
});

describe("add", () => {
  test("refuses an item without an id, and fires no hook", async () => {
    const pool = makePool();
    const fired: unknown[] = [];
    pool.beforeAdd(async () => fired.push(1));
    const adding = pool.add(new ContextItem({ content: 1, description: "nameless" }));
    await expect(adding).rejects.toThrow(InvalidArgumentError);
    await expect(adding).rejects.toThrow("item.id: expected a string, got null");
    expect(fired).toEqual([]);
  });

  test("refuses an item without a description", async () => {
    const adding = makePool().add(new ContextItem({ content: 1, id: "a" }));
    await expect(adding).rejects.toThrow("item.description: expected a string, got null");
  });

  test("takes an empty id and an empty description", async () => {
    const pool = makePool();
    await pool.add(new ContextItem({ content: 1, id: "", description: "" }));
    expect(pool.get("").content).toBe(1);
  });

  test("refuses what is not an item", async () => {
    await expect(makePool().add({ id: "a" } as never)).rejects.toThrow(InvalidTypeError);
  });

  test("fires beforeAdd before the item is there, and afterAdd when it is", async () => {
    const pool = makePool();
    const fired: unknown[] = [];
    pool.beforeAdd(async (it, added) => fired.push(["before", it === pool, added.id, it.has("a")]));
    pool.afterAdd(async (it, added) => fired.push(["after", it === pool, added.id, it.has("a")]));
    await pool.add(item("a"));
    expect(fired).toEqual([
      ["before", true, "a", false],
      ["after", true, "a", true],
    ]);
  });

  test("evicts the oldest item when it is full, after beforeAdd and while the item is still present", async () => {
    const pool = await poolOf(2, "a", "b");
    const fired: unknown[] = [];
    pool.beforeAdd(async () => fired.push("beforeAdd"));
    pool.onEvict(async (it, oldest) => fired.push(["onEvict", it === pool, oldest.id, ids(it)]));
    pool.afterAdd(async (it) => fired.push(["afterAdd", ids(it)]));
    await pool.add(item("c"));
    expect(fired).toEqual(["beforeAdd", ["onEvict", true, "a", ["a", "b"]], ["afterAdd", ["b", "c"]]]);
  });

  test("loses nothing when a beforeAdd hook throws", async () => {
    const pool = await poolOf(1, "a");
    const evicted: unknown[] = [];
    pool.onEvict(async (_pool, oldest) => evicted.push(oldest.id));
    pool.beforeAdd(async () => {
      throw new Error("vetoed");
    });
    await expect(pool.add(item("b"))).rejects.toThrow("vetoed");
    expect(ids(pool)).toEqual(["a"]);
    expect(evicted).toEqual([]);
  });

  test("keeps the oldest item when its onEvict hook throws", async () => {
    const pool = await poolOf(1, "a");
    pool.onEvict(async () => {
      throw new Error("precious");
    });
    await expect(pool.add(item("b"))).rejects.toThrow("precious");
    expect(ids(pool)).toEqual(["a"]);
  });

  test("does not fire onEvict when it updates an existing id, but fires the other hooks", async () => {
    const pool = await poolOf(2, "a", "b");
    const fired: string[] = [];
    pool.beforeAdd(async () => fired.push("beforeAdd"));
    pool.onEvict(async () => fired.push("onEvict"));
    pool.afterAdd(async () => fired.push("afterAdd"));
    await pool.add(item("a", "new"));
    expect(fired).toEqual(["beforeAdd", "afterAdd"]);
    expect(pool.get("a").content).toBe("new");
    expect(pool.size).toBe(2);
  });

  test("makes a refreshed item the newest, so that it is not evicted first", async () => {
    const pool = await poolOf(2, "a", "b");
    await pool.add(item("a", "new"));
    await pool.add(item("c"));
    expect(ids(pool)).toEqual(["a", "c"]);
  });
});

describe("concurrent adds", () => {
  test("never exceed the limit, without any hook", async () => {
    const pool = makePool(2);
    await Promise.all(["a", "b", "c", "d"].map((id) => pool.add(item(id))));
    expect(ids(pool)).toEqual(["c", "d"]);
  });

  test("never exceed the limit and never lose an item without onEvict, however slow the hooks are", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(fc.nat(9)), async (limit, delays) => {
        const pool = await poolOf(limit, "x", "y", "z");
        const kept = ids(pool);
        const evicted = new Set<unknown>();
        const sizes: number[] = [];
        pool.onEvict(async (_pool, oldest) => {
          evicted.add(oldest.id);
          for (let ticks = delays.shift() ?? 0; ticks > 0; ticks -= 1) await Promise.resolve();
          sizes.push(pool.size);
        });
        pool.afterAdd(async () => sizes.push(pool.size));
        await Promise.all(names.map((id) => pool.add(item(id))));
        expect(Math.max(...sizes)).toBe(limit);
        expect(pool.size).toBe(limit);
        expect(new Set([...evicted, ...ids(pool)])).toEqual(new Set([...kept, ...names]));
      }),
    );
  });

  test("keep an item that was refreshed while onEvict was at it", async () => {
    const pool = await poolOf(2, "a", "b");
    const gate = Promise.withResolvers<void>();
    const evicting = Promise.withResolvers<void>();
    const evicted: unknown[] = [];
    pool.onEvict(async (_pool, oldest) => {
      evicted.push(oldest.id);
      evicting.resolve();
      await gate.promise;
    });
    const adding = pool.add(item("c"));
    await evicting.promise;
    await pool.add(item("a", "new"));
    gate.resolve();
    await adding;
    expect(ids(pool)).toEqual(["a", "c"]);
    expect(evicted).toEqual(["a", "b"]);
  });
});

describe("remove", () => {
  test("fires beforeRemove while the item is there, and afterRemove when it is not", async () => {
    const pool = await poolOf(null, "a");
    const fired: unknown[] = [];
    pool.beforeRemove(async (it, removed) => fired.push(["before", it === pool, removed.id, it.has("a")]));
    pool.afterRemove(async (it, removed) => fired.push(["after", it === pool, removed.id, it.has("a")]));
    await pool.remove("a");
    expect(fired).toEqual([
      ["before", true, "a", true],
      ["after", true, "a", false],
    ]);
  });

  test("of a missing item throws before any hook", async () => {
    const pool = makePool();
    const fired: unknown[] = [];
    pool.beforeRemove(async () => fired.push(1));
    await expect(pool.remove("a")).rejects.toThrow(MissingContextItemError);
    expect(fired).toEqual([]);
  });

  test("keeps the item when a beforeRemove hook throws", async () => {
    const pool = await poolOf(null, "a");
    pool.beforeRemove(async () => {
      throw new Error("kept");
    });
    await expect(pool.remove("a")).rejects.toThrow("kept");
    expect(pool.has("a")).toBe(true);
  });

  test("twice concurrently removes once", async () => {
    const pool = await poolOf(null, "a");
    const removed: unknown[] = [];
    pool.beforeRemove(async () => {});
    pool.afterRemove(async (_pool, it) => removed.push(it.id));
    await Promise.all([pool.remove("a"), pool.remove("a")]);
    expect(removed).toEqual(["a"]);
  });

  test("keeps an item that has come under the same id while the hooks ran", async () => {
    const pool = await poolOf(null, "a");
    const removed: unknown[] = [];
    pool.beforeRemove(async () => pool.add(item("a", "newer")));
    pool.afterRemove(async (_pool, it) => removed.push(it.id));
    await pool.remove("a");
    expect(pool.get("a").content).toBe("newer");
    expect(removed).toEqual([]);
  });
});

describe("clear", () => {
  test("fires beforeClear with a snapshot by id, and afterClear when all is gone", async () => {
    const pool = await poolOf(null, "a", "b");
    const fired: unknown[] = [];
    pool.beforeClear(async (it, current) => {
      fired.push(["before", it === pool, [...current.keys()], it.size]);
      (current as Map<string, ContextItem>).clear();
    });
    pool.afterClear(async (it) => fired.push(["after", it === pool, it.size]));
    await pool.clear();
    expect(fired).toEqual([
      ["before", true, ["a", "b"], 2],
      ["after", true, 0],
    ]);
  });

  test("keeps the items when a beforeClear hook throws", async () => {
    const pool = await poolOf(null, "a");
    pool.beforeClear(async () => {
      throw new Error("kept");
    });
    await expect(pool.clear()).rejects.toThrow("kept");
    expect(ids(pool)).toEqual(["a"]);
  });
});

describe("a branch of a pool", () => {
  test("starts with the same items, limit, tags and registry", async () => {
    const registry = new Registry();
    const pool = new ContextPool({ limit: 3, tags: ["notes"], registry });
    await pool.add(item("a"));
    const branch = pool.branch();
    expect(ids(branch)).toEqual(["a"]);
    expect(branch.limit).toBe(3);
    expect([...branch.tags]).toEqual(["notes"]);
    expect(branch.registry).toBe(registry);
  });

  test("is independent in both directions", async () => {
    const pool = await poolOf(null, "a");
    const branch = pool.branch();
    await branch.add(item("b"));
    await pool.remove("a");
    expect(ids(branch)).toEqual(["a", "b"]);
    expect(ids(pool)).toEqual([]);
  });

  test("with a limit of null has none, though its parent has", async () => {
    const branch = (await poolOf(2, "a", "b")).branch({ limit: null });
    await branch.add(item("c"));
    expect(branch.limit).toBeNull();
    expect(ids(branch)).toEqual(["a", "b", "c"]);
  });

  test("drops the oldest items that do not fit a smaller limit, and fires nothing", async () => {
    const registry = new Registry();
    const fired: unknown[] = [];
    hook(["pool.onEvict", "pool.beforeAdd", "pool.beforeRemove"], async () => fired.push("global"), {
      registry,
    });
    const json = (await poolOf(null, "a", "b", "c")).toJSON();
    const pool = ContextPool.fromJSON(json, { registry });
    pool.onEvict(async () => fired.push("own"));
    expect(ids(pool.branch({ limit: 2 }))).toEqual(["b", "c"]);
    expect(fired).toEqual([]);
  });

  test.each([null, []])("has no hooks with hooks: %s", (hooks) => {
    const pool = makePool();
    pool.beforeAdd(async () => {});
    expect(pool.branch({ hooks }).hooks).toEqual([]);
  });

  test("inherits the hooks", async () => {
    const pool = makePool();
    const seen: unknown[] = [];
    pool.afterAdd(async (it) => seen.push(it));
    const branch = pool.branch();
    await branch.add(item("a"));
    expect(seen).toEqual([branch]);
  });

  test("is of the same type for a subclass", async () => {
    class Library extends ContextPool {}
    const library = new Library({ registry: new Registry() });
    expect(library.branch()).toBeInstanceOf(Library);
  });
});

describe("a saved pool", () => {
  test("has its format version, limit, items and tags, and no hooks", async () => {
    const pool = new ContextPool({ tags: ["t"], registry: new Registry() });
    pool.afterAdd(async () => {});
    await pool.add(item("a", 1));
    expect(pool.toJSON()).toEqual({
      version: 1,
      limit: null,
      items: [{ id: "a", description: "about a", content: 1 }],
      tags: ["t"],
    });
  });

  test("is restored exactly as it was, bypassing eviction and hooks", async () => {
    const registry = new Registry();
    const fired: unknown[] = [];
    hook(["pool.beforeAdd", "pool.onEvict", "pool.afterAdd"], async () => fired.push(1), { registry });
    const json = { ...(await poolOf(null, "a", "b", "c")).toJSON(), limit: 2 };
    const pool = ContextPool.fromJSON(json, { registry });
    expect(ids(pool)).toEqual(["a", "b", "c"]);
    expect(fired).toEqual([]);
  });

  test("evicts until its limit holds when more is added to it", async () => {
    const json = { ...(await poolOf(null, "a", "b", "c")).toJSON(), limit: 2 };
    const pool = ContextPool.fromJSON(json, { registry: new Registry() });
    await pool.add(item("d"));
    expect(ids(pool)).toEqual(["c", "d"]);
  });

  test("keeps the order by age", async () => {
    const pool = await poolOf(2, "a", "b");
    await pool.add(item("a", "new"));
    const restored = ContextPool.fromJSON(pool.toJSON(), { registry: new Registry() });
    await restored.add(item("c"));
    expect(ids(restored)).toEqual(["a", "c"]);
  });

  test("may lack everything", () => {
    const pool = ContextPool.fromJSON({});
    expect(pool.limit).toBeNull();
    expect(pool.size).toBe(0);
  });

  test.each([
    ["contextPool", []],
    ["contextPool.limit", { limit: 0 }],
    ["contextPool.limit", { limit: "2" }],
    ["contextPool.items", { items: "a" }],
    ["contextPool.items[0].id", { items: [{ content: 1, description: "" }] }],
    [
      "contextPool.items[1].description",
      {
        items: [
          { content: 1, id: "a", description: "" },
          { content: 1, id: "b" },
        ],
      },
    ],
    ["contextPool.version", { version: 99 }],
  ])("that is malformed at %s is refused with that path", (path, json) => {
    expect(() => ContextPool.fromJSON(json)).toThrow(InvalidJsonError);
    expect(() => ContextPool.fromJSON(json)).toThrow(`Cannot read ${path}:`);
  });
});
