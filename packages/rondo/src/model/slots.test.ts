import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { acquireSlot, slotsInUse } from "./slots.ts";

const never = new AbortController().signal;
let count = 0;

/** Asks for slots of an endpoint of the test's own, and writes down who has got one. */
function line(): {
  ask: (name: string, limit: number, signal?: AbortSignal) => Promise<() => void>;
  got: string[];
  inUse: () => ReturnType<typeof slotsInUse>;
} {
  count += 1;
  const endpoint = `http://localhost/${count}`;
  const got: string[] = [];
  const ask = async (name: string, limit: number, signal = never) => {
    const release = await acquireSlot({ endpoint, limit, signal });
    got.push(name);
    return release;
  };
  return { ask, got, inUse: () => slotsInUse(endpoint) };
}

/** Long enough for everything that can go on to do so. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test("grants slots up to the limit, then one in order for each that is released", async () => {
  const { ask, got } = line();
  const releaseA = await ask("a", 2);
  const releaseB = await ask("b", 2);
  const [c, d] = [ask("c", 2), ask("d", 2)];
  await settle();
  expect(got).toEqual(["a", "b"]);
  releaseB();
  releaseB(); // only the first one counts
  await settle();
  expect(got).toEqual(["a", "b", "c"]);
  releaseA();
  await settle();
  expect(got).toEqual(["a", "b", "c", "d"]);
  (await c)();
  (await d)();
});

test("without a limit nobody waits, but is counted", async () => {
  const { ask, got } = line();
  const release = await ask("a", Number.POSITIVE_INFINITY);
  await ask("b", Number.POSITIVE_INFINITY);
  const c = ask("c", 2);
  await settle();
  expect(got).toEqual(["a", "b"]);
  release();
  await c;
  expect(got).toEqual(["a", "b", "c"]);
});

test("nobody overtakes, even with a higher limit", async () => {
  const { ask, got } = line();
  const release = await ask("a", 1);
  void ask("b", 1);
  void ask("c", 5);
  await settle();
  expect(got).toEqual(["a"]);
  release();
  await settle();
  expect(got).toEqual(["a", "b", "c"]);
});

test("an aborted request leaves the line, and the next ones go if their limit allows", async () => {
  const { ask, got } = line();
  await ask("a", 1);
  const controller = new AbortController();
  const b = ask("b", 1, controller.signal);
  void ask("c", 2);
  await settle();
  expect(got).toEqual(["a"]);
  controller.abort("enough");
  await expect(b).rejects.toBe("enough");
  await settle();
  expect(got).toEqual(["a", "c"]);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("an already aborted request does not join the line", async () => {
  const { ask, got } = line();
  await expect(ask("a", 1, AbortSignal.abort("no"))).rejects.toBe("no");
  await ask("b", 1);
  expect(got).toEqual(["b"]);
});

test("endpoints have slots of their own", async () => {
  const first = line();
  const second = line();
  await first.ask("a", 1);
  await second.ask("b", 1);
  expect(second.got).toEqual(["b"]);
});

test("tells how many have a slot, and how many wait", async () => {
  const { ask, inUse } = line();
  expect(inUse()).toEqual({ taken: 0, waiting: 0 });
  const release = await ask("a", 1);
  const b = ask("b", 1);
  await settle();
  expect(inUse()).toEqual({ taken: 1, waiting: 1 });
  release();
  (await b)();
  expect(inUse()).toEqual({ taken: 0, waiting: 0 });
});
