// What becomes of figures and of the ways in which code ends, with an interpreter that a test scripts.

import {
  type CodeOutcome,
  type CodeOutput,
  ContainerPool,
  defaultLimits,
  narrowAllowedHosts,
  plainText,
  readExecution,
} from "rondo/sandbox";
import { expect, test } from "vitest";
import { Containers } from "./containers.ts";
import { runCode } from "./run-code.ts";
import { memoryTier } from "./testkit/memory-tier.ts";

/** Runs code in a container whose interpreter gives this. */
async function run(outputs: readonly CodeOutput[], outcome: CodeOutcome = { type: "done", isLost: false }) {
  const tools = {
    openInterpreter: async () => ({
      language: "python" as const,
      isAlive: true,
      run: () => ({
        outcome: Promise.resolve(outcome),
        async *[Symbol.asyncIterator]() {
          yield* outputs;
        },
      }),
      close: async () => {},
    }),
    ContainerPool,
    plainText,
    readExecution,
    narrowAllowedHosts,
  };
  const containers = new Containers({
    sandbox: memoryTier(Date.now),
    tools,
    language: "python",
    limits: defaultLimits,
    allow: [],
    mounts: [],
    idleMs: 60_000,
    containersPerOwner: 1,
    openContainers: 1,
    warmContainers: 0,
    onWarning: (message) => expect.fail(message),
  });
  const { id } = await containers.create("ann", { name: "x", isAuto: false, memoryLimit: null });
  const { signal } = new AbortController();
  const result = await containers.use("ann", id, (use) =>
    runCode("code", { use, tools, note: undefined, signal }),
  );
  return { ...result, id, paths: containers.pathsOf(id) };
}

const image = (length: number): CodeOutput => ({
  type: "image",
  mediaType: "image/png",
  bytes: new Uint8Array(length).fill(7),
});

test("a figure is a file of the container, and an image in its place among the logs", async () => {
  const { output, item, paths } = await run([
    { type: "stdout", text: "before\n" },
    image(3),
    { type: "stderr", text: "after" },
    { type: "result", text: "42" },
  ]);
  expect(paths).toEqual([expect.stringMatching(/^figure-[0-9a-f]{8}\.png$/)]);
  expect(output).toBe(`before\n(The figure was saved as /mnt/data/${paths[0]}.)\nafter\n42`);
  expect(item?.["outputs"]).toEqual([
    { type: "logs", logs: "before\n" },
    { type: "image", url: "data:image/png;base64,BwcH" },
    { type: "logs", logs: "after\n42\n" },
  ]);
});

test("a large figure is to be downloaded", async () => {
  const { item, id } = await run([image(1_000_001)]);
  expect(item?.["outputs"]).toEqual([
    { type: "image", url: expect.stringMatching(`^/v1/containers/${id}/files/cfile_[0-9a-f]{32}/content$`) },
  ]);
});

test.each<[CodeOutcome, boolean, string]>([
  [{ type: "error", isLost: false, name: "E", message: "m", traceback: "trace" }, false, "trace"],
  [{ type: "error", isLost: false, name: "E", message: "m", traceback: "" }, false, "E: m"],
  [{ type: "memory", isLost: true, message: "Too much." }, true, "Too much. The interpreter ended with it"],
  [{ type: "timeout", isLost: false, message: "Too long." }, true, "Too long."],
  [{ type: "cancelled", isLost: false }, true, "The code was cancelled."],
  [{ type: "lost", isLost: true, message: "Gone." }, true, "Gone. The interpreter ended with it"],
])("an end as %j is told to the model", async (outcome, isError, text) => {
  const result = await run([{ type: "stdout", text: "said" }], outcome);
  expect(result.isError).toBe(isError);
  expect(result.output).toContain(`said\n${text}`);
});
