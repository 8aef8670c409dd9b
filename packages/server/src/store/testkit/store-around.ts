// A store of which every call can be delayed, refused or lost on its way.

import type { RunQueue } from "../run-queue.ts";
import type { Store } from "../store.ts";

export type StoreMethod = keyof Store | keyof RunQueue;

export type StoreHook = (
  method: StoreMethod,
  call: () => Promise<unknown>,
  args: readonly unknown[],
) => Promise<unknown>;

/** Passes each call of the store and its queue to `hook`, which makes it, or does something else. */
export function storeAround(store: Store, hook: StoreHook): Store {
  const around = <T extends object>(target: T, parts: Partial<T>): T =>
    new Proxy(target, {
      get(_, name) {
        const value = (name in parts ? parts : target)[name as keyof T];
        if (typeof value !== "function") return value;
        // Asks the process, and not the store.
        if (name === "isCutOff") return value.bind(target);
        return (...args: unknown[]) => hook(name as StoreMethod, () => value.apply(target, args), args);
      },
    });
  return around(store, { queue: around(store.queue, {}) });
}

export interface PowerCut {
  /** What a process has that will lose its power. */
  readonly store: Store;
  /** Resolves when the power is gone. */
  readonly isOff: Promise<void>;
}

/**
 * Ends a process for everyone who can see: at its n-th commit, nothing comes from the store any more, and nothing
 * gets there. `isKept` says whether that commit was still written.
 */
export function powerCut(store: Store, { at, isKept }: { at: number; isKept: boolean }): PowerCut {
  const { promise: isOff, resolve: cut } = Promise.withResolvers<void>();
  let commits = 0;
  let hasPower = true;
  return {
    isOff,
    store: storeAround(store, async (method, call) => {
      if (!hasPower) return nothing;
      if (method !== "commit" || ++commits !== at) {
        const result = await call();
        return hasPower ? result : nothing;
      }
      hasPower = false;
      if (isKept) await call();
      cut();
      return nothing;
    }),
  };
}

const nothing = new Promise<never>(() => {});
