// A SQLite store whose connection a test can reach, to make the database fail for real.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { prepareFile, SqliteConnection } from "../sqlite/connection.ts";
import { SqliteStore } from "../sqlite/sqlite-store.ts";
import { tempFolder } from "./temp-folder.ts";

export interface SqliteFile extends AsyncDisposable {
  readonly path: string;
  readonly store: SqliteStore;
  /** The store's own connection. */
  readonly connection: SqliteConnection;
  /** Another program that has the same file open. */
  readonly other: DatabaseSync;
}

export function sqliteFile(): SqliteFile {
  const folder = tempFolder();
  const path = prepareFile(join(folder.path, "rondo.db"));
  const connection = new SqliteConnection(path);
  const store = new SqliteStore(connection, { now: Date.now });
  const other = new DatabaseSync(path);
  return {
    path,
    store,
    connection,
    other,
    [Symbol.asyncDispose]: async () => {
      other.close();
      await store.close();
      folder[Symbol.dispose]();
    },
  };
}
