import {
  ContainerPool,
  defaultLimits,
  narrowAllowedHosts,
  openInterpreter,
  plainText,
  readExecution,
} from "rondo/sandbox";
import { beforeEach, expect, test } from "vitest";
import { autoContainerId, Containers, type ContainersOptions } from "./containers.ts";
import { type MemoryTier, memoryTier } from "./testkit/memory-tier.ts";

let nowMs = 0;
let tier: MemoryTier;
beforeEach(() => {
  nowMs = 1_000_000;
  tier = memoryTier(() => nowMs);
});

const tools = { ContainerPool, openInterpreter, plainText, readExecution, narrowAllowedHosts };
const minute = 60_000;

function containersOf(given: Partial<ContainersOptions> = {}): Containers {
  return new Containers({
    sandbox: tier,
    tools,
    language: "python",
    limits: defaultLimits,
    allow: [],
    mounts: [],
    idleMs: 20 * minute,
    containersPerOwner: 3,
    openContainers: 2,
    warmContainers: 0,
    onWarning: (message) => expect.fail(message),
    now: () => nowMs,
    ...given,
  });
}

const wanted = { name: "x", isAuto: false, memoryLimit: null };
const idsOf = async (containers: Containers, owner = "ann") =>
  (await containers.list(owner)).map(({ id }) => id);

test("a container expires after its idle time, and what uses it keeps it", async () => {
  const containers = containersOf();
  const { id } = await containers.create("ann", { ...wanted, idleMs: 5 * minute });
  const other = await containers.create("ann", wanted);
  nowMs += 4 * minute;
  await containers.use("ann", id, async () => {
    nowMs += 30 * minute;
    expect(await containers.sweep()).toBe(1);
    expect(await idsOf(containers)).toEqual([id]);
  });
  await expect(containers.get("ann", other.id)).rejects.toMatchObject({ code: "container_not_found" });
  nowMs += 5 * minute - 1;
  expect(await containers.find("ann", id)).toBeDefined();
  nowMs += 1;
  expect(await containers.find("ann", id)).toBeUndefined();
  expect(await containers.sweep()).toBe(1);
  expect(await tier.containers()).toEqual([]);
});

test("who expires containers is told of those that nobody removed, before they are", async () => {
  const told: string[] = [];
  let whileWaiting = async () => {};
  const containers = containersOf({
    containersPerOwner: 2,
    expire: async ({ id, owner }, remove) => {
      const { length } = await tier.containers();
      await whileWaiting();
      told.push(`${owner} ${id} of ${length}: ${await remove()}`);
    },
  });
  const auto = await containers.create("ann", { ...wanted, isAuto: true });
  const { id } = await containers.create("ann", wanted);
  const third = await containers.create("ann", { ...wanted, isAuto: true });
  await containers.remove("ann", id);
  expect(told).toEqual([`ann ${auto.id} of 2: true`]);
  // It is used while the log is written: it stays, and so does the limit.
  await containers.create("ann", wanted);
  const used = Promise.withResolvers<void>();
  let using: Promise<void> | undefined;
  whileWaiting = async () => {
    whileWaiting = async () => {};
    const begun = Promise.withResolvers<void>();
    using = containers.use("ann", third.id, () => {
      begun.resolve();
      return used.promise;
    });
    await begun.promise;
  };
  await expect(containers.create("ann", wanted)).rejects.toMatchObject({ status: 429 });
  used.resolve();
  await using;
  nowMs += 30 * minute;
  expect(await containers.sweep()).toBe(2);
  expect(told.slice(1).map((line) => line.slice(-5))).toEqual(["false", " true", " true"]);
});

test("another process finds it by its record, with its owner and its idle time", async () => {
  const { id } = await containersOf().create("ann", wanted);
  nowMs += 10 * minute;
  const later = containersOf();
  expect(await later.find("ann", id)).toMatchObject({ record: { owner: "ann", name: "x" } });
  expect(await later.find("bob", id)).toBeUndefined();
  await expect(later.get("ann", "cntr_x")).rejects.not.toThrow("node");
  await expect(containersOf({ hasOtherNodes: true }).get("ann", "cntr_x")).rejects.toThrow("another node");
  await later.use("ann", id, (use) => use.setRecord({ hasRunCode: true }));
  nowMs += 15 * minute;
  expect(await containersOf().find("ann", id)).toMatchObject({ record: { hasRunCode: true } });
  nowMs += 5 * minute;
  expect(await containersOf().find("ann", id)).toBeUndefined();
});

test("what others keep with the tier is left alone", async () => {
  await tier.open({ id: "foreign", record: { owner: "ann", version: 99 } });
  const containers = containersOf();
  expect(await idsOf(containers)).toEqual([]);
  expect(await containers.find("ann", "foreign")).toBeUndefined();
  nowMs += 100 * minute;
  await containers.sweep();
  expect(await tier.containers()).toHaveLength(1);
});

test("at the limit, an idle container that a request made goes first; those of clients stay", async () => {
  const containers = containersOf();
  const own = await containers.create("ann", wanted);
  const auto = await containers.create("ann", { ...wanted, isAuto: true });
  const second = await containers.create("ann", wanted);
  await containers.create("bob", wanted);
  const third = await containers.create("ann", wanted);
  expect(await idsOf(containers)).toEqual(expect.arrayContaining([own.id, second.id, third.id]));
  expect(await containers.find("ann", auto.id)).toBeUndefined();
  await expect(containers.create("ann", wanted)).rejects.toMatchObject({ status: 429 });
  await containers.remove("ann", own.id);
  await containers.create("ann", wanted);
});

test("only so many are open: an idle one is closed, and where none is idle others wait", async () => {
  const containers = containersOf();
  const ids = [];
  for (let count = 0; count < 3; count += 1) ids.push((await containers.create("ann", wanted)).id);
  const [a = "", b = "", c = ""] = ids;
  expect(tier.opened.size).toBe(2);
  const gates = { [a]: Promise.withResolvers<void>(), [b]: Promise.withResolvers<void>() };
  const busy = Object.entries(gates).map(([id, gate]) => containers.use("ann", id, () => gate.promise));
  await expect.poll(() => [...tier.opened].toSorted()).toEqual([a, b].toSorted());
  const order: string[] = [];
  const waiting = containers.use("ann", c, async () => void order.push("c"));
  const given = new AbortController();
  const leaving = containers.use("ann", c, async () => void order.push("never"), given.signal);
  given.abort(new Error("The client is gone."));
  await expect(leaving).rejects.toThrow("The client is gone.");
  expect(order).toEqual([]);
  gates[a]?.resolve();
  await waiting;
  expect([...tier.opened].toSorted()).toEqual([b, c].toSorted());
  gates[b]?.resolve();
  await Promise.all(busy);
  await containers.close();
  expect(tier.opened.size).toBe(0);
});

test("the container of a response has the same id each time, and is made once", async () => {
  const containers = containersOf();
  const id = autoContainerId("ann", "resp_1");
  expect(id).toMatch(/^cntr_[0-9a-f]{32}$/);
  expect(autoContainerId("bob", "resp_1")).not.toBe(id);
  const made = { ...wanted, id, isAuto: true };
  const [first, second] = await Promise.all([containers.create("ann", made), containers.create("ann", made)]);
  expect(first).toBe(second);
  expect(await idsOf(containers)).toEqual([id]);
});

test("requests at the same moment do not get more containers than the owner's limit", async () => {
  const containers = containersOf();
  const made = await Promise.allSettled(Array.from({ length: 8 }, () => containers.create("ann", wanted)));
  expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  expect(await idsOf(containers)).toHaveLength(3);
});

test("a container that is opened again, also by another process, has its own memory limit", async () => {
  const limits = { ...defaultLimits, memoryBytes: 8 * 1024 ** 3 };
  const containers = containersOf({ limits, openContainers: 1 });
  const { id } = await containers.create("ann", { ...wanted, memoryLimit: "4g" });
  await containers.create("ann", wanted);
  const limitOf = (by: Containers) =>
    by.use("ann", id, async ({ container }) => container.limits.memoryBytes);
  expect(await limitOf(containers)).toBe(4 * 1024 ** 3);
  expect(await limitOf(containersOf({ limits }))).toBe(4 * 1024 ** 3);
});

test("a warm container gets the id that was asked for, and is found by it later", async () => {
  const interpreter = {
    language: "python",
    isAlive: true,
    run: () => expect.fail(),
    close: async () => {},
  } as const;
  class Warm extends ContainerPool {
    #taken = 0;
    override get size() {
      return this.#taken === 0 ? 1 : 0;
    }
    override async take() {
      this.#taken += 1;
      return { container: await tier.open({ id: "warm" }), interpreter };
    }
  }
  const containers = containersOf({ warmContainers: 1, tools: { ...tools, ContainerPool: Warm } });
  const id = autoContainerId("ann", "resp_1");
  const narrow = await containers.create("ann", { ...wanted, memoryLimit: "1g" });
  await containers.create("ann", { ...wanted, id });
  await containers.use("ann", id, async (use) => {
    expect(use.container.id).toBe("warm");
    expect(use.known.id).toBe(id);
    expect(await use.openInterpreter()).toEqual({ interpreter, isNewAfterLoss: false });
  });
  const later = containersOf();
  expect(await idsOf(later)).toEqual(expect.arrayContaining([narrow.id, id]));
  expect(await later.find("ann", "warm")).toBeUndefined();
  // Its variables are lost with the process.
  expect(await later.find("ann", id)).toMatchObject({ record: { hasRunCode: true } });
  await later.remove("ann", id);
  expect((await tier.containers()).map((it) => it.id)).toEqual([narrow.id]);
});
