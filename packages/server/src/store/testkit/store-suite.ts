// The one suite that every store passes.

import { describe } from "vitest";
import { commitTests } from "./suite/commit-tests.ts";
import { type OpenedStore, useStore } from "./suite/context.ts";
import { conversationTests } from "./suite/conversation-tests.ts";
import { createTests } from "./suite/create-tests.ts";
import { keyTests } from "./suite/key-tests.ts";
import { leaseTests } from "./suite/lease-tests.ts";
import { lifeTests } from "./suite/life-tests.ts";
import { listTests } from "./suite/list-tests.ts";
import { readTests } from "./suite/read-tests.ts";
import { suspectTests } from "./suite/suspect-tests.ts";

/** Tests a store. `open` is called for each test, and must give an empty one that goes by the clock `now`. */
export function storeSuite(name: string, open: (now: () => number) => OpenedStore): void {
  describe(`the ${name} store`, () => {
    const context = useStore(open);
    createTests(context);
    commitTests(context);
    leaseTests(context);
    suspectTests(context);
    keyTests(context);
    listTests(context);
    readTests(context);
    lifeTests(context);
    conversationTests(context);
  });
}
