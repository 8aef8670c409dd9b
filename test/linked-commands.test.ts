// `npx rondo` works in a fresh clone only if `npm ci` can link it, and npm links only files that exist before the build.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repoRoot } from "./support/repo.ts";

test("the server's command is an executable file of the repository", () => {
  const folder = join(repoRoot, "packages/server");
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  expect(Object.keys(bin)).toEqual(["rondo"]);
  const listed = execFileSync("git", ["ls-files", "--stage", bin.rondo], { cwd: folder, encoding: "utf8" });
  expect(listed).toMatch(/^100755 /);
});
