import { memoryStore } from "./memory.ts";
import { storeSuite } from "./testkit/store-suite.ts";

storeSuite("memory", (now) => ({ store: memoryStore({ now }) }));
