// Opens the store that the config names.

import { InvalidArgumentError } from "rondo";
import type { PostgresStoreOptions } from "./postgres/open.ts";
import { sqliteInMemory, sqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";
import { isPostgresUrl } from "./store-label.ts";

export interface OpenStoreOptions {
  /** Receives a warning when part of a file is lost, though the rest can be used. Default: none. */
  readonly onWarning?: (message: string) => void;
  /** The clock of leases and keys, in milliseconds. Default: `Date.now`, or the clock of the database. */
  readonly now?: () => number;
  /** For a store in PostgreSQL. */
  readonly postgres?: Pick<PostgresStoreOptions, "schema" | "connections" | "migrate"> | undefined;
}

/**
 * Opens a store: `memory`, `none` (keeps nothing: see `Store.keepsNothing`), `sqlite:` and the path of a file, or the
 * `postgres:` URL of a database, which several servers may share. A store that is open already is returned as it is.
 * Throws a `StoreError` when it cannot be opened.
 */
export async function openStore(store: string | Store, options: OpenStoreOptions = {}): Promise<Store> {
  if (typeof store !== "string") return store;
  const { postgres, ...others } = options;
  if (store === "memory" || store === "none")
    return sqliteInMemory({ ...others, keepsNothing: store === "none" });
  const path = /^sqlite:(.+)$/s.exec(store)?.[1];
  if (path !== undefined) return sqliteStore({ path, ...others });
  if (isPostgresUrl(store)) {
    // Loaded only here: whoever uses SQLite pays nothing for it.
    const { postgresStore } = await import("./postgres/open.ts");
    return postgresStore({ url: store, ...postgres, ...others });
  }
  throw new InvalidArgumentError({
    field: "store",
    expected: '"memory", "none", "sqlite:PATH" or "postgres://…", such as "sqlite:./rondo.db"',
    received: store,
  });
}
