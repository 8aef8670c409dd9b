import { join } from "node:path";
import { storeSuite } from "../testkit/store-suite.ts";
import { tempFolder } from "../testkit/temp-folder.ts";
import { sqliteStore } from "./sqlite-store.ts";

storeSuite("SQLite", (now) => {
  const folder = tempFolder();
  return {
    store: sqliteStore({ path: join(folder.path, "rondo.db"), now }),
    dispose: folder[Symbol.dispose],
  };
});
