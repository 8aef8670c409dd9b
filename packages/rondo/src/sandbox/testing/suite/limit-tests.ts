// Limits: each ends what passes it, whatever the code does against that, and the container goes on.

import assert from "node:assert/strict";
import type { Outcome, SandboxLimits } from "../../sandbox.ts";
import { assertOutcome, type SuiteContext, shell } from "./context.ts";

interface LimitTest {
  readonly name: string;
  readonly limits: Partial<SandboxLimits>;
  readonly outcome: Outcome["type"];
  readonly line: string;
  readonly needsPython?: boolean;
}

const limitCases: readonly LimitTest[] = [
  {
    name: "an endless loop that ignores signals",
    limits: { timeoutMs: 400 },
    outcome: "timeout",
    line: "trap '' TERM INT HUP QUIT; while :; do sleep 0.01; done",
  },
  { name: "CPU time", limits: { cpuMs: 300 }, outcome: "cpu", line: "while :; do :; done" },
  {
    name: "CPU time of many processes together",
    limits: { cpuMs: 400 },
    outcome: "cpu",
    line: "for i in 1 2 3 4; do (while :; do :; done) & done; wait",
  },
  {
    name: "a flood of output",
    limits: { outputBytes: 10_000 },
    outcome: "output",
    line: "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; echo yyyyyyyyyyyyyyyyy >&2; done",
  },
  {
    name: "memory",
    limits: { memoryBytes: 96 * 1024 * 1024 },
    outcome: "memory",
    line: "python3 -c 'x = [bytearray(b\"x\" * 10**6) for i in range(10**6)]'",
    needsPython: true,
  },
  {
    name: "memory of a shell without Python",
    limits: { memoryBytes: 96 * 1024 * 1024 },
    outcome: "memory",
    line: "tail /dev/zero",
  },
  {
    name: "a fork bomb",
    limits: { processes: 20 },
    outcome: "processes",
    // It doubles without end, but not so fast that the machine of the tests has no time left for others.
    line: "bomb() { sleep 0.05; bomb | bomb & bomb; }; bomb; while :; do sleep 1; done",
  },
  {
    name: "a large file",
    limits: { diskBytes: 4_000_000 },
    outcome: "disk",
    line: "for i in 1 2 3 4 5 6 7 8 9; do head -c 3000000 /dev/zero > file$i; done; while :; do sleep 1; done",
  },
  {
    name: "more files than allowed",
    limits: { files: 100 },
    outcome: "disk",
    line: "i=0; while :; do i=$((i+1)); : > f$i; done",
  },
  {
    name: "files outside the work folder",
    limits: { files: 100 },
    outcome: "disk",
    line: "i=0; while :; do i=$((i+1)); : > /tmp/f$i; done",
  },
  {
    name: "files whose names are not text",
    limits: { diskBytes: 4_000_000 },
    outcome: "disk",
    line: "cd \"$(printf 'odd\\377' | xargs -I % sh -c 'mkdir %; echo %')\"; for i in 1 2 3; do head -c 3000000 /dev/zero > \"$(printf '\\376')$i\"; done; while :; do sleep 1; done",
  },
  {
    name: "folders in folders",
    limits: { files: 300 },
    outcome: "disk",
    line: "while :; do mkdir d; cd d; done",
  },
];

export function limitTests({ test, withContainer, hasPython, options }: SuiteContext): void {
  for (const { name, limits, outcome, line, needsPython } of limitCases) {
    if (needsPython && !hasPython) continue;
    if (options.missingLimits?.[outcome] !== undefined) continue;
    test(`${name} is ended by the limit '${outcome}'`, async () => {
      await withContainer({ limits }, async (container) => {
        const result = await shell(container, line);
        assertOutcome(result.outcome, outcome);
        assert.match("message" in result.outcome ? result.outcome.message : "", /limit/);
        // What was too much is gone, so that the next process has room.
        const after = await shell(container, "echo fine > after; cat after");
        assert.deepEqual(after, { stdout: "fine\n", stderr: "", outcome: { type: "exit", code: 0 } });
        assert.equal((await container.list()).length <= (limits.files ?? 10_000), true);
      });
    });
  }

  test("output up to the limit is complete", async () => {
    await withContainer({ limits: { outputBytes: 10_000 } }, async (container) => {
      const { stdout, outcome } = await shell(container, "head -c 10000 /dev/zero");
      assert.equal(stdout.length, 10_000);
      assert.deepEqual(outcome, { type: "exit", code: 0 });
      const flood = await shell(container, "head -c 10001 /dev/zero; sleep 100");
      assertOutcome(flood.outcome, "output");
      assert.equal(flood.stdout.length, 10_000);
    });
  });

  test("limits that are not valid are refused", async () => {
    await assert.rejects(withContainer({ limits: { files: 0 } }, async () => {}));
    await assert.rejects(withContainer({ limits: { memory: 5 } as object }, async () => {}));
  });
}
