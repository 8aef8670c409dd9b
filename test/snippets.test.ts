// The programs in the documentation are compiled, so they cannot go stale. test/installed.long.test.ts runs them.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { statedOutput } from "./support/programs.ts";
import { repoRoot } from "./support/repo.ts";
import { documentedPrograms, extract, snippetsIn } from "./support/snippets.ts";

const snippets = documentedPrograms();

// Inside the repo, so that `rondo` and the test dependencies resolve.
const folder = join(repoRoot, ".cache/snippets");
extract(snippets, folder);

describe("the programs in the documentation", { timeout: 120_000 }, () => {
  // One compilation for all of them: starting the compiler takes most of the time.
  const errors = snippets.length > 0 ? compile() : Promise.resolve([]);

  test.concurrent.for(snippets)("$title", async ({ title, file }) => {
    const own = (await errors).filter((line) => line.includes(file));
    expect(own.map((line) => line.replace(/^.*?\((\d+),\d+\)/, `${title.replace(/:\d+$/, "")}:$1`))).toEqual(
      [],
    );
  });

  test("compile as a whole", async () => {
    expect(await errors).toEqual([]);
  });
});

function compile(): Promise<string[]> {
  const tsc = join(repoRoot, "node_modules/@typescript/native/bin/tsc");
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [tsc, "--noEmit", "--pretty", "false", "-p", folder],
      (error, stdout, stderr) => {
        resolve(error ? `${stdout}${stderr}`.trim().split("\n") : []);
      },
    );
  });
}

describe("a snippet", () => {
  test("keeps the line numbers of its document", () => {
    const [snippet, ...others] = snippetsIn("docs/a.md", "# A\n\n```ts\nfirst();\nsecond();\n```\n");
    expect(others).toEqual([]);
    expect(snippet).toEqual({
      title: "docs/a.md:3",
      file: "docs-a.md-3.ts",
      source: "\n\n\nfirst();\nsecond();\n",
    });
  });

  test("may be indented, as in a list", () => {
    const [snippet] = snippetsIn("a.md", "- so:\n  ```ts\n  if (a) {\n    b();\n  }\n  ```\n");
    expect(snippet?.source.trim()).toBe("if (a) {\n  b();\n}");
  });

  test("is not detected inside other blocks", () => {
    expect(snippetsIn("a.md", "````md\n```ts\nfirst();\n```\n````\n\n```sh\nnpm test\n```\n")).toEqual([]);
  });

  test.each(["ts skip", "ts no-run", "typescript", "js", "TSX"])(
    "cannot be skipped by the mark '%s'",
    (mark) => {
      expect(() => snippetsIn("a.md", `\`\`\`${mark}\nfirst();\n\`\`\`\n`)).toThrow("a.md:1 is marked");
    },
  );

  test("must end", () => {
    expect(() => snippetsIn("a.md", "text\n```ts\nfirst();\n")).toThrow(
      "a.md:2 begins a block that does not end",
    );
  });

  test("states its output in comments", () => {
    expect(statedOutput(`log("a"); // → a\n// → b c\n// →\nlog(1); // no output\n`)).toEqual([
      "a",
      "b c",
      "",
    ]);
    expect(statedOutput("run();\n")).toBeUndefined();
  });
});
