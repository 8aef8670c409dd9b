import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../../config/testkit/folder.ts";
import { completePath } from "./complete-path.ts";

test("paths are completed, folders with a slash, hidden files only if asked for", async () => {
  using folder = folderWith({ "apple.ts": "", "apricot.ts": "", ".apart": "", "bad\u001b[31m": "" });
  mkdirSync(join(folder.path, "app"));
  expect(await completePath("ap", folder.path)).toEqual(["app/", "apple.ts", "apricot.ts"]);
  expect(await completePath("./apr", folder.path)).toEqual(["./apricot.ts"]);
  expect(await completePath(`${folder.path}/apr`, "/")).toEqual([`${folder.path}/apricot.ts`]);
  expect(await completePath(".a", folder.path)).toEqual([".apart"]);
  expect(await completePath("app/", folder.path)).toEqual([]);
  expect(await completePath("none/", folder.path)).toEqual([]);
  // A name must not drive the terminal.
  expect(await completePath("bad", folder.path)).toEqual([]);
});
