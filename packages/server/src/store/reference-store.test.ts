import { describeStore } from "./testing/store-suite.ts";
import { memoryStore } from "./testkit/memory.ts";

describeStore("reference", { open: async ({ now }) => ({ store: memoryStore({ now }) }) });
