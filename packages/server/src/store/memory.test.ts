import { memoryStore } from "./memory.ts";
import { storeSuite } from "./testkit/store-suite.ts";

storeSuite("the memory store", (now) => ({ store: memoryStore({ now }) }));
