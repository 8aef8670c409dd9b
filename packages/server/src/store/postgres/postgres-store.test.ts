import { beforeAll } from "vitest";
import { describeStore } from "../testing/store-suite.ts";
import { postgresStore } from "./open.ts";
import { emptyTables } from "./testkit/empty-tables.ts";
import { testDatabase } from "./testkit/test-database.ts";

let url: string;
beforeAll(async () => {
  url = await testDatabase();
});

describeStore("PostgreSQL", {
  open: async ({ now }) => ({ store: await postgresStore({ url, now }), dispose: () => emptyTables(url) }),
});
