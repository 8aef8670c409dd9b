// Follows the recipe "Add a store" of CONTRIBUTING.md, with what the package exports.

import { openStore, type Store, type StoreError, startServer } from "@rondo/server";
import { describeStore } from "@rondo/server/store-suite";
import { startModelServer } from "rondo/testing";
import { expect, test } from "vitest";

/** A store of a user: another one, whose commits are counted, and which tells nobody what is new. */
async function countingStore({ now }: { now?: () => number } = {}) {
  const inner = await openStore("memory", now && { now });
  const counts = { commits: 0 };
  const own: Partial<Record<string | symbol, unknown>> = { news: undefined, pollMs: 20, flushWindowMs: 5 };
  const store = new Proxy(inner, {
    get(target, name: keyof Store) {
      if (name in own) return own[name];
      const value = target[name];
      if (typeof value !== "function") return value;
      if (name === "commit") counts.commits += 1;
      return value.bind(target);
    },
  });
  return { store, counts };
}

describeStore("user's", { open: ({ now }) => countingStore({ now }) });

test("a store of the user's own is used by the server, followed without news, and closed with it", async () => {
  await using model = await startModelServer(["One.", "Two."]);
  const { store, counts } = await countingStore();
  {
    await using server = await startServer({
      port: 0,
      store,
      endpoints: [{ url: model.url }],
      log: { level: "silent" },
    });
    const create = (body: object) =>
      fetch(`${server.url}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "test-model", ...body }),
      });
    const first = (await (await create({ input: "1" })).json()) as { id: string };
    const followed = await (
      await create({ input: "2", previous_response_id: first.id, background: true, stream: true })
    ).text();
    expect(followed).toMatch(/"delta":"Two\."[\s\S]*event: response\.completed/);
    expect(counts.commits).toBeGreaterThan(1);
  }
  await expect(store.check()).rejects.toMatchObject({ code: "unavailable" } satisfies Partial<StoreError>);
});

test("a setting that is not a store is refused", async () => {
  const store = { get: async () => undefined } as unknown as Store;
  await expect(startServer({ store })).rejects.toThrow(
    "memory, none, sqlite:PATH, postgres://USER@HOST/DATABASE or a store of your own",
  );
});
