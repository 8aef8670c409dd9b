// Tracks which locks the running code holds, so that a deadlock with itself is an error at once.

import type { Hold } from "./lock.ts";

interface Storage {
  run<R>(store: readonly Hold[], fn: () => R): R;
  getStore(): readonly Hold[] | undefined;
}

/**
 * Tracking a call through its awaits needs AsyncLocalStorage. It is looked up and not imported, because the library
 * must load on runtimes without it: there, the timeout of the lock ends such a wait.
 */
function findStorage(): Storage | undefined {
  const host = globalThis as {
    process?: { getBuiltinModule?: (id: string) => { AsyncLocalStorage: new () => Storage } | undefined };
  };
  const hooks = host.process?.getBuiltinModule?.("node:async_hooks");
  return hooks && new hooks.AsyncLocalStorage();
}

/** Made with the first lock that is held: most programs have none. */
let storage: Storage | undefined;

/** Runs `fn` as code that holds `hold`, in addition to what its caller holds. */
export function runHolding<R>(hold: Hold, fn: () => R): R {
  storage ??= findStorage();
  return storage ? storage.run([...(storage.getStore() ?? []), hold], fn) : fn();
}

export function isHeldHere(isWanted: (hold: Hold) => boolean): boolean {
  return storage?.getStore()?.some(isWanted) ?? false;
}
