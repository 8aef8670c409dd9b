import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readExamples } from "../scripts/examples.ts";
import { expectToRun, statedOutput } from "./support/programs.ts";
import { repoRoot } from "./support/repo.ts";

const examples = readExamples(join(repoRoot, "examples"));

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

  test.concurrent.for(examples)("$name prints what it states", async ({ path, source, name }) => {
    await expectToRun(path, source, `examples/${name}.ts`);
  });
});
