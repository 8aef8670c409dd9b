import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repoRoot } from "./support/repo.ts";

const read = (file: string) => readFileSync(join(repoRoot, file), "utf8");

// npm packs only files in the package's own folder.
test.each(globSync("packages/*", { cwd: repoRoot }))("%s carries the licence of the repository", (folder) => {
  expect(read(`${folder}/LICENSE`)).toBe(read("LICENSE"));
});
