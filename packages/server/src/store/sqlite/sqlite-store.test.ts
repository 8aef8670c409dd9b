import { join } from "node:path";
import { describeStore } from "../testing/store-suite.ts";
import { tempFolder } from "../testkit/temp-folder.ts";
import { sqliteInMemory, sqliteStore } from "./sqlite-store.ts";

describeStore("SQLite", {
  open: async ({ now }) => {
    const folder = tempFolder();
    return {
      store: sqliteStore({ path: join(folder.path, "rondo.db"), now }),
      dispose: folder[Symbol.dispose],
    };
  },
});

describeStore("SQLite in memory", { open: async ({ now }) => ({ store: sqliteInMemory({ now }) }) });
