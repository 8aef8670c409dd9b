import { expect, test } from "vitest";
import { matchToolName } from "./match-tool-name.ts";

test.each([
  ["add", ["add"], "add"],
  ["Add", ["add"], "add"],
  [" add ", ["add"], "add"],
  ["functions.add", ["add"], "add"],
  ["default_api:add", ["add"], "add"],
  ["tools/add", ["add"], "add"],
  ["mcp.math.ADD", ["add"], undefined],
  ["mcp.math.ADD", ["math__add"], "math__add"],
  ["mcp.functions.add", ["add"], "add"],
  ["wiki.remove", ["remove"], undefined],
  ["wiki__remove", ["remove", "files__remove"], undefined],
  ["wiki/remove", ["remove", "wiki__remove"], "wiki__remove"],
  ["math.add", ["math__add", "add"], "math__add"],
  ["server__math__add", ["math__add"], "math__add"],
  ["add.add", ["add"], "add"],
  ["add.add", ["add", "add__add"], "add__add"],
  ["sub.add", ["add"], undefined],
  ["Add", ["add", "Add"], "Add"],
  ["ADD", ["add", "Add"], undefined],
  ["functions.ADD", ["add", "Add"], undefined],
  ["subtract", ["add"], undefined],
  ["add_two", ["add"], undefined],
  ["", ["add"], undefined],
  ["functions.", ["add"], undefined],
  ["add", [], undefined],
])("%j among %j is %j", (name, offered, expected) => {
  expect(matchToolName(name, offered)).toBe(expected);
});

test("a name that is far too long is not searched for namespaces", () => {
  const long = `${"a.".repeat(1_000_000)}add`;
  expect(matchToolName(long, ["add"])).toBeUndefined();
  expect(matchToolName(long, ["add", long])).toBe(long);
});
