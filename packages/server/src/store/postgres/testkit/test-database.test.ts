// The shared PostgreSQL is a real one, and its role is like that of a careful operator.

import pg from "pg";
import { expect, test } from "vitest";
import { testDatabase } from "./test-database.ts";

test("each test database is empty, and belongs to a role that is not a superuser", async () => {
  const [first, second] = await Promise.all([testDatabase(), testDatabase()]);
  expect(first).not.toBe(second);
  const client = new pg.Client(first);
  await client.connect();
  try {
    await client.query("CREATE SCHEMA mine");
    const { rows } = await client.query("SELECT current_setting('is_superuser') AS superuser");
    expect(rows).toEqual([{ superuser: "off" }]);
  } finally {
    await client.end();
  }
});
