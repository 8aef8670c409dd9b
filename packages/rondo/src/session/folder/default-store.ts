// The store of clients that are given none, on runtimes with a file system: `#sessions` in package.json selects it.

import type { SessionStore } from "../store.ts";
import { folderSessions } from "./folder-sessions.ts";

export function defaultSessionStore(): SessionStore {
  return folderSessions();
}
