import { memoryStore } from "./memory.ts";
import { describeStore } from "./testing/store-suite.ts";

describeStore("memory", { open: async ({ now }) => ({ store: memoryStore({ now }) }) });
