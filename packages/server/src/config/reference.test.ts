import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { resolveConfig } from "./check-config.ts";
import { configReference } from "./reference.ts";
import { settings, shortcuts } from "./settings.ts";

test("docs/server-config.md is up to date with the schema; `npm run docs` writes it", () => {
  const page = readFileSync(new URL("../../../../docs/server-config.md", import.meta.url), "utf8");
  expect(page).toBe(configReference());
});

test("the reference has one row for each key and variable", () => {
  const rows = configReference().split("\n");
  const rowsOf = (name: string) => rows.filter((row) => row.startsWith(`| \`${name}\` | `)).length;
  expect(settings.filter(({ key }) => rowsOf(key) !== 1)).toEqual([]);
  expect(shortcuts.filter(({ env }) => rowsOf(env) !== 1)).toEqual([]);
});

test("the reference's example is a config", () => {
  const [, yaml = ""] = /```yaml\n(.*?)```/s.exec(configReference()) ?? [];
  expect(resolveConfig(parse(yaml)).defaultModel).toBe("big");
});
