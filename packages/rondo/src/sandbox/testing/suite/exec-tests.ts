// Processes: their input and output, and how they end.

import assert from "node:assert/strict";
import { assertOutcome, type SuiteContext, shell } from "./context.ts";

export function execTests({ test, withContainer }: SuiteContext): void {
  test("a process has its streams, folder, variables and exit code", async () => {
    await withContainer({}, async (container) => {
      await container.write("sub/file", Buffer.from("x"));
      const { stdout, stderr, outcome } = await shell(
        container,
        'pwd; echo "$NAME"; cat; echo e >&2; exit 3',
        {
          env: { NAME: "värde" },
          input: Buffer.from("input"),
          cwd: "sub",
        },
      );
      assert.equal(stdout, "/mnt/data/sub\nvärde\ninput");
      assert.equal(stderr, "e\n");
      assert.deepEqual(outcome, { type: "exit", code: 3 });
    });
  });

  test("output comes while the process runs, and input can follow it", async () => {
    await withContainer({}, async (container) => {
      const execution = await container.exec({
        command: ["sh", "-c", "while read -r line; do echo got $line; done"],
        input: "open",
      });
      await execution.write(Buffer.from("1\n"));
      let text = "";
      for await (const { bytes } of execution) {
        text += Buffer.from(bytes).toString();
        if (text === "got 1\n") await execution.write(Buffer.from("2\n"));
        if (text === "got 1\ngot 2\n") execution.end();
      }
      assert.equal(text, "got 1\ngot 2\n");
      assert.deepEqual(await execution.outcome, { type: "exit", code: 0 });
    });
  });

  test("a program that is missing, and one that a signal ends, are outcomes", async () => {
    await withContainer({}, async (container) => {
      const missing = await container.exec({ command: ["no-such-program"] });
      const outcome = await missing.outcome;
      assert.equal(outcome.type === "exit" && outcome.code !== 0, true, JSON.stringify(outcome));
      const killed = await shell(container, "kill -SEGV $$");
      assert.deepEqual(killed.outcome, { type: "signal", signal: "SIGSEGV" });
    });
  });

  test("an abort, cancel() and leaving the iteration end processes that ignore signals", async () => {
    await withContainer({}, async (container) => {
      const stubborn = ["sh", "-c", "trap '' TERM INT HUP; echo go; while :; do sleep 1; done"] as const;
      const controller = new AbortController();
      const aborted = await container.exec({ command: stubborn }, controller.signal);
      const cancelled = await container.exec({ command: stubborn });
      const left = await container.exec({ command: stubborn });
      for await (const _ of left) break;
      cancelled.cancel();
      controller.abort();
      for (const execution of [aborted, cancelled, left]) assertOutcome(await execution.outcome, "cancelled");
      await assert.rejects(container.exec({ command: ["true"] }, AbortSignal.abort()));
    });
  });

  test("background processes end with the process that started them", async () => {
    await withContainer({}, async (container) => {
      const { outcome } = await shell(container, "(while :; do date > beat; sleep 0.05; done) & exit 0");
      assert.deepEqual(outcome, { type: "exit", code: 0 });
      await shell(container, "rm -f beat; sleep 0.2");
      assert.deepEqual(await container.list(), []);
    });
  });

  test("commands and variables that cannot be passed on are refused", async () => {
    await withContainer({}, async (container) => {
      await assert.rejects(container.exec({ command: ["echo", "a\0b"] }));
      await assert.rejects(container.exec({ command: ["true"], env: { "A=B": "1" } }));
      await assert.rejects(container.exec({ command: ["true"], cwd: "../.." }));
    });
  });
}
