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

  test.concurrent.for(examples)("$name prints what it states", async ({ path, source, name }) => {
    await expectToRun(path, source, `examples/${name}.ts`);
  });
});
