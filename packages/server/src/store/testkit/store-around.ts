// A store of which every call can be delayed, refused or lost on its way.

import type { Store } from "../store.ts";

export type StoreMethod = keyof Store;

export type StoreHook = (
  method: StoreMethod,
  call: () => Promise<unknown>,
  args: readonly unknown[],
) => Promise<unknown>;

/** Passes each call of the store to `hook`, which makes it, or does something else. */
export function storeAround(store: Store, hook: StoreHook): Store {
  return new Proxy(store, {
    get(target, name: StoreMethod) {
      const method = target[name] as ((...args: unknown[]) => Promise<unknown>) | undefined;
      if (!method) return undefined; // `then`, when a promise is resolved with it
      return (...args: unknown[]) => hook(name, () => method.apply(target, args), args);
    },
  });
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
