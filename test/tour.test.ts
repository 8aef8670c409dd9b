import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sideBySide } from "../scripts/side-by-side.ts";
import { repoRoot } from "./support/repo.ts";

/** Runs the tour without a terminal, in a folder with the given examples. */
function tour(examples: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "rondo-tour-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(examples)) writeFileSync(join(folder, name), text);
  const env = { ...process.env, FORCE_COLOR: undefined };
  return spawnSync(process.execPath, [join(repoRoot, "scripts/tour.ts"), folder], {
    cwd: folder,
    encoding: "utf8",
    env,
  });
}

test("without a terminal, the tour shows the examples in order, code and output, as plain lines, without pausing", () => {
  const { status, stdout } = tour({
    "02-second.ts": `// The second.\nconsole.log("two");\n`,
    "01-first.ts": `// The first.\nconst word: string = "one";\nconsole.log(word);\n`,
  });
  expect(stdout.split("\n")).toEqual([
    "A tour of Rondo in 2 examples.",
    "",
    "1/2  The first.",
    "01-first.ts",
    "",
    '  │ const word: string = "one";',
    "  │ console.log(word);",
    "",
    "one",
    "",
    "2/2  The second.",
    "02-second.ts",
    "",
    '  │ console.log("two");',
    "",
    "two",
    "",
    expect.stringContaining("Read next"),
    "",
  ]);
  expect(status).toBe(0);
});

test("a failed example makes the tour fail, after the others have run", () => {
  const { status, stdout } = tour({
    "01-bad.ts": "// Bad.\nprocess.exit(3);\n",
    "02-good.ts": `// Good.\nconsole.log("shown");\n`,
  });
  expect(stdout).toContain("01-bad failed (3)");
  expect(stdout).toContain("shown");
  expect(stdout).toContain("failures: 01-bad.");
  expect(status).toBe(1);
});

test.each([
  ["pipeline.ts", "// A title.", "needs a name like"],
  ["01-untitled.ts", "export {};", "needs a title"],
])("an invalid example is rejected: %s", (name, text, complaint) => {
  const { status, stderr } = tour({ [name]: text });
  expect(stderr).toContain(complaint);
  expect(status).toBe(1);
});

test("code and output are side by side where both fit, and long output is wrapped", () => {
  expect(sideBySide(["const a = 1;", "b"], ["one", "x".repeat(50)], 60)).toEqual([
    ["const a = 1;", "one"],
    ["b           ", "x".repeat(45)],
    ["            ", "xxxxx"],
  ]);
  expect(sideBySide(["a"], [], 60)).toEqual([["a", ""]]);
  expect(sideBySide(["const a = 1;"], ["one"], 54)).toBeUndefined();
});
