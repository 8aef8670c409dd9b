// What the tests of a store share: a store of their own, a clock that moves only when told to, and short cuts.

import { afterEach, beforeEach } from "vitest";
import type { ResponseStatus } from "../../../protocol/status.ts";
import type { Job, Lease } from "../../run-queue.ts";
import type { NewResponse, Store, StoredEvent } from "../../store.ts";
import { newResponse, write } from "../build.ts";

export interface OpenedStore {
  store: Store;
  /** Removes what a closed store leaves behind. */
  dispose?: () => void | Promise<void>;
}

/** Opens an empty store. `now` is its clock, in milliseconds. */
export type OpenStore = (options: { now: () => number }) => Promise<OpenedStore>;

export interface SuiteContext {
  readonly store: Store;
  readonly now: () => number;
  readonly advance: (ms: number) => void;
  readonly create: (id: string, given?: Partial<NewResponse>) => Promise<Lease>;
  readonly claim: (worker?: string, limit?: number) => Promise<readonly Job[]>;
  readonly allEvents: (owner: string, id: string) => Promise<readonly StoredEvent[]>;
  /** Makes a response that is in this state, and gives the lease that led to it. */
  readonly createIn: (status: ResponseStatus, id?: string) => Promise<Lease>;
}

/** Opens a store for each test, and closes it afterwards. */
export function useStore(open: OpenStore): SuiteContext {
  let nowMs = 0;
  let opened: OpenedStore | undefined;
  beforeEach(async () => {
    nowMs = 1_000_000;
    opened = await open({ now: () => nowMs });
  });
  afterEach(async () => {
    await opened?.store.close();
    await opened?.dispose?.();
  });
  const store = (): Store => {
    if (opened === undefined) throw new Error("There is a store only while a test runs.");
    return opened.store;
  };
  const create: SuiteContext["create"] = (id, given) =>
    store().create(newResponse(id, given), "worker-1", 30_000);
  const claim: SuiteContext["claim"] = (worker = "worker-2", limit = 10) =>
    store().queue.claim(worker, { leaseMs: 30_000, limit });
  return {
    get store() {
      return store();
    },
    now: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
    create,
    claim,
    allEvents: (owner, id) => store().events(owner, id, -1, 1000),
    createIn: async (status, id = "resp_1") => {
      await create(id, { status: "queued" });
      const [lease] = await claim();
      if (lease === undefined) throw new Error("There was nothing to claim.");
      if (status !== "queued") await store().commit(lease, write({ update: { status: "in_progress" } }));
      if (status !== "queued" && status !== "in_progress") {
        await store().commit(lease, write({ update: { status } }));
      }
      return lease;
    },
  };
}
