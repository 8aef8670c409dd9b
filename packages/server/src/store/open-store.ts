// From what stands in the config to a store.

import { InvalidArgumentError } from "rondo";
import { memoryStore } from "./memory.ts";
import type { Store } from "./store.ts";

/** Opens the store that `url` names: `memory`. */
export function openStore(url: string): Store {
  if (url === "memory") return memoryStore();
  throw new InvalidArgumentError({ field: "store", expected: '"memory"', received: url });
}
