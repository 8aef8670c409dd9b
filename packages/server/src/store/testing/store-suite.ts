// `@rondo/server/store-suite`: the tests that every store passes.

import { describe } from "vitest";
import { commitTests } from "./suite/commit-tests.ts";
import { type OpenStore, useStore } from "./suite/context.ts";
import { conversationTests } from "./suite/conversation-tests.ts";
import { createTests } from "./suite/create-tests.ts";
import { fileTests } from "./suite/file-tests.ts";
import { keyTests } from "./suite/key-tests.ts";
import { leaseTests } from "./suite/lease-tests.ts";
import { lifeTests } from "./suite/life-tests.ts";
import { listTests } from "./suite/list-tests.ts";
import { readTests } from "./suite/read-tests.ts";
import { runListTests } from "./suite/run-list-tests.ts";
import { suspectTests } from "./suite/suspect-tests.ts";

export type { OpenedStore, OpenStore } from "./suite/context.ts";

/**
 * Defines the tests of a store, for Vitest. `open` is called before each test; it gives a new, empty store, whose
 * leases and keys are timed by the clock `now`.
 */
export function describeStore(name: string, { open }: { open: OpenStore }): void {
  describe(`the ${name} store`, () => {
    const context = useStore(open);
    createTests(context);
    commitTests(context);
    leaseTests(context);
    suspectTests(context);
    keyTests(context);
    listTests(context);
    runListTests(context);
    readTests(context);
    lifeTests(context);
    conversationTests(context);
    fileTests(context);
  });
}
