import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../../config/testkit/folder.ts";
import { historyFile, PromptHistory } from "./prompt-history.ts";

test("is in XDG_STATE_HOME, or in the default folder", () => {
  expect(historyFile({ XDG_STATE_HOME: "/x", HOME: "/h" })).toBe(join("/x", "rondo", "history"));
  const usual = join("/h", ".local", "state", "rondo", "history");
  expect(historyFile({ HOME: "/h" })).toBe(usual);
  expect(historyFile({ XDG_STATE_HOME: "relative", HOME: "/h" })).toBe(usual);
});

test("the next chat has the prompts of this one, except those that begin with a space", () => {
  using folder = folderWith();
  const file = join(folder.path, "new/folder/history");
  const history = new PromptHistory(file);
  for (const prompt of ["one", "one", " secret", "", "two\nlines \\n", "one"]) history.add(prompt);
  expect(new PromptHistory(file).newestFirst).toEqual(["one", "two\nlines \\n", "one"]);
  expect(readFileSync(file, "utf8")).not.toContain("secret");
  // Nobody else is to read what was asked.
  expect(statSync(file).mode & 0o077).toBe(0);
});

test("keeps the last 1,000, and skips unreadable lines", () => {
  const lines = Array.from({ length: 1200 }, (_, index) => JSON.stringify(`prompt ${index}`));
  using folder = folderWith({ history: [...lines, "{broken", "5", '"cut of'].join("\n") });
  const file = join(folder.path, "history");
  const { newestFirst } = new PromptHistory(file);
  expect(newestFirst.length).toBe(1000);
  expect([newestFirst[0], newestFirst[999]]).toEqual(["prompt 1199", "prompt 200"]);
  expect(readFileSync(file, "utf8").split("\n").length).toBe(1001);
});

test("without a file, this chat still has its own prompts", () => {
  using folder = folderWith({ file: "" });
  const history = new PromptHistory(join(folder.path, "file/below/a/file"));
  history.add("one");
  expect(history.newestFirst).toEqual(["one"]);
});
