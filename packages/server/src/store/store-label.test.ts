import { describe, expect, test } from "vitest";
import { hidePasswords, isPostgresUrl, isValidPostgresUrl, storeLabel } from "./store-label.ts";

const secret = "pa%24%24%2Fw%40rd";

describe("the name of a store", () => {
  test.each([
    [`postgres://ada:${secret}@db.example.org:6432/rondo`, "postgres://ada@db.example.org:6432/rondo"],
    [`postgresql://ada:${secret}@[::1]/rondo?sslmode=verify-full`, "postgres://ada@[::1]/rondo"],
    [`postgres://db/rondo?user=ada&password=${secret}`, "postgres://db/rondo"],
    [`postgres://:${secret}@db/rondo`, "postgres://db/rondo"],
    ["postgres://ada:p/w@db/rondo", "postgres://(hidden)"],
    ["postgres://ada:50%@db/rondo", "postgres://(hidden)"],
    ["sqlite:./rondo.db", "sqlite:./rondo.db"],
    ["memory", "memory"],
  ])("%s is %s", (store, label) => {
    expect(storeLabel(store)).toBe(label);
  });
});

test.each([
  [
    `serve --store postgres://ada:${secret}@db/rondo --port 1`,
    "serve --store postgres://ada@db/rondo --port 1",
  ],
  ["--store=postgres://ada:p@s:s@db/rondo", "--store=postgres://ada@db/rondo"],
  ["--to POSTGRES://db/rondo?password=x&b=1 --from a", "--to POSTGRES://db/rondo --from a"],
  ["postgres://ada@db/rondo", "postgres://ada@db/rondo"],
  ["http://ada:pw@host/v1", "http://ada:pw@host/v1"],
])("passwords of PostgreSQL are hidden in %s", (text, shown) => {
  expect(hidePasswords(text)).toBe(shown);
});

test("a URL whose password is not encoded is invalid", () => {
  expect(isPostgresUrl("postgres://x")).toBe(true);
  expect(isPostgresUrl("sqlite:postgres://x")).toBe(false);
  expect(isValidPostgresUrl(`postgres://ada:${secret}@db/rondo`)).toBe(true);
  expect(isValidPostgresUrl("postgres://ada:a#b@db/rondo")).toBe(false);
  expect(isValidPostgresUrl("postgres://ada:50%@db/rondo")).toBe(false);
});
