// From what stands in the config to a store.

import { InvalidArgumentError } from "rondo";
import { memoryStore } from "./memory.ts";
import { sqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

/**
 * Opens the store that `url` names: `memory`, or `sqlite:` and the path of a file. `onWarning` is told when something of
 * it is lost, though it can be used. A store that is open already is returned.
 */
export function openStore(
  url: string | Store,
  options: { onWarning?: (message: string) => void } = {},
): Store {
  if (typeof url !== "string") return url;
  if (url === "memory") return memoryStore();
  const path = /^sqlite:(.+)$/s.exec(url)?.[1];
  if (path !== undefined) return sqliteStore({ path, ...options });
  throw new InvalidArgumentError({
    field: "store",
    expected: '"memory" or "sqlite:PATH", such as "sqlite:./rondo.db"',
    received: url,
  });
}
