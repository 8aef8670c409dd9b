import fc from "fast-check";
import { expect, test } from "vitest";
import { InvalidTypeError } from "../errors.ts";
import { ContextItem, ContextPool, ContextQueue, Registry } from "../index.ts";

/** Everything that survives being saved. */
const content = fc.letrec<{ value: unknown; leaf: unknown }>((tie) => ({
  leaf: fc.oneof(
    fc.string(),
    fc.double(),
    fc.boolean(),
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array(),
    fc.constantFrom(null, undefined),
  ),
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    tie("leaf"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "$rondo", "value")), tie("value"), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
    fc.array(fc.tuple(tie("leaf"), tie("value")), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(tie("leaf"), { maxLength: 3 }).map((values) => new Set(values)),
    tie("value").map((inner) => new ContextItem({ content: inner, id: "inner" })),
  ),
})).value;

const text = fc.option(fc.string(), { nil: null });
const looseItem = fc
  .record({ content, id: text, description: text })
  .map((options) => new ContextItem<unknown>(options));
const poolItem = fc
  .record({ content, id: fc.string(), description: fc.string() })
  .map((options) => new ContextItem<unknown>(options));
const tags = fc.array(fc.string(), { maxLength: 3 });

/** What a file or a database would give back. */
const throughText = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("any item comes back from JSON as it was", () => {
  fc.assert(
    fc.property(looseItem, (item) => {
      const restored = ContextItem.fromJSON(throughText(item));
      expect(restored).toEqual(item);
      expect(restored.equals(item)).toBe(true);
    }),
  );
});

test("any queue comes back from JSON as it was", async () => {
  const registry = new Registry();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      tags,
      fc.array(looseItem, { maxLength: 7 }),
      async (limit, tags, items) => {
        const queue = new ContextQueue({ limit, tags, registry });
        await queue.append(...items);
        const restored = ContextQueue.fromJSON(throughText(queue), { registry });
        expect(restored.items).toEqual(items.slice(-limit));
        expect(restored.limit).toBe(limit);
        expect(restored.tags).toEqual(queue.tags);
        expect(restored.toJSON()).toEqual(queue.toJSON());
      },
    ),
  );
});

test("any pool comes back from JSON as it was", async () => {
  const registry = new Registry();
  await fc.assert(
    fc.asyncProperty(
      fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
      tags,
      fc.array(poolItem, { maxLength: 7 }),
      async (limit, tags, items) => {
        const pool = new ContextPool({ limit, tags, registry });
        for (const item of items) await pool.add(item);
        const restored = ContextPool.fromJSON(throughText(pool), { registry });
        expect(restored.items).toEqual(pool.items);
        expect(restored.limit).toBe(limit);
        expect(restored.tags).toEqual(pool.tags);
        expect(restored.catalogue()).toBe(pool.catalogue());
      },
    ),
  );
});

test("a pool never holds more than its limit, and of each id the last that was added", async () => {
  const registry = new Registry();
  const short = fc.record({ id: fc.constantFrom("a", "b", "c", "d"), content: fc.nat() });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(short), async (limit, adds) => {
      const pool = new ContextPool({ limit, registry });
      for (const { id, content } of adds) await pool.add(new ContextItem({ id, content, description: "" }));
      const newest = new Map<string, number>();
      for (const { id, content } of adds) {
        newest.delete(id);
        newest.set(id, content);
      }
      expect(pool.items.map(({ id, content }) => [id, content])).toEqual([...newest].slice(-limit));
    }),
  );
});

test.each([
  ["an item", (scope: never) => ContextItem.fromJSON({ content: 1 }, scope)],
  ["a queue", (scope: never) => ContextQueue.fromJSON({ limit: 1 }, scope)],
  ["a pool", (scope: never) => ContextPool.fromJSON({}, scope)],
])("options that cannot be used are refused when %s is read", (_, read) => {
  for (const scope of [null, 5, []]) expect(() => read(scope as never)).toThrow(InvalidTypeError);
  expect(() => read({ regsitry: new Registry() } as never)).toThrow("options.regsitry: expected one of");
});
