import { existsSync } from "node:fs";
import { join } from "node:path";
import { bwrap } from "rondo/sandbox";
import { describe, expect, test } from "vitest";
import { readExamples } from "../scripts/examples.ts";
import { expectToRun, statedOutput } from "./support/programs.ts";
import { repoRoot } from "./support/repo.ts";

const examples = readExamples(join(repoRoot, "examples"));

/** What this machine lacks to run code in a sandbox; undefined if nothing. */
async function lackingForCode(): Promise<string | undefined> {
  if (!existsSync("/usr/bin/python3")) return "there is no Python.";
  const sandbox = bwrap();
  const { isAvailable, probes } = await sandbox.check();
  await sandbox.close();
  return isAvailable ? undefined : probes.find(({ holds, isRequired }) => isRequired && !holds)?.detail;
}

describe("the examples", { timeout: 60_000 }, () => {
  test("are numbered consecutively and state their output", () => {
    expect(examples.map(({ name }) => Number.parseInt(name, 10))).toEqual(
      examples.map((_, index) => index + 1),
    );
    expect(examples.filter(({ source }) => !statedOutput(source))).toEqual([]);
  });

  test("the copy editor changes fewer than five lines of the program that it ports", () => {
    const port = examples.find(({ name }) => name === "11-copy-editor");
    const changed = port?.source.split("\n").filter((line) => line.includes("// was: ")) ?? [];
    expect(changed.length).toBeGreaterThan(0);
    expect(changed.length).toBeLessThan(5);
    expect(port?.source).toContain("four lines change");
    expect(changed).toHaveLength(4);
  });

  test.concurrent.for(examples)("$name prints what it states", async ({ path, source, name }, { skip }) => {
    const lacks = source.includes("needs Linux with bubblewrap") ? await lackingForCode() : undefined;
    if (lacks !== undefined) skip(`No code can be run here: ${lacks}`);
    await expectToRun(path, source, `examples/${name}.ts`);
  });
});
