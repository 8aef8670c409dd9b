// The store of clients that are given none, on runtimes without a file system: there is none.

import { InvalidArgumentError } from "../error/argument-errors.ts";
import type { SessionStore } from "./store.ts";

export function defaultSessionStore(): SessionStore {
  throw new InvalidArgumentError({
    field: "sessionStore",
    expected: "a store, because this runtime has no folder for sessions",
    received: undefined,
    hint: "Pass memorySessions(), or a store of your own.",
  });
}
