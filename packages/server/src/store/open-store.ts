// Opens the store that the config names.

import { InvalidArgumentError } from "rondo";
import { sqliteInMemory, sqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

export interface OpenStoreOptions {
  /** Receives a warning when part of a file is lost, though the rest can be used. Default: none. */
  readonly onWarning?: (message: string) => void;
  /** The clock of leases and keys, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * Opens a store: `memory`, `none` (keeps nothing: see `Store.keepsNothing`), or `sqlite:` and the path of a file. A
 * store that is open already is returned as it is. Throws a `StoreError` when it cannot be opened.
 */
export async function openStore(store: string | Store, options: OpenStoreOptions = {}): Promise<Store> {
  if (typeof store !== "string") return store;
  if (store === "memory" || store === "none")
    return sqliteInMemory({ ...options, keepsNothing: store === "none" });
  const path = /^sqlite:(.+)$/s.exec(store)?.[1];
  if (path !== undefined) return sqliteStore({ path, ...options });
  throw new InvalidArgumentError({
    field: "store",
    expected: '"memory", "none" or "sqlite:PATH", such as "sqlite:./rondo.db"',
    received: store,
  });
}
