// Before each test file: what the files before it in this worker loaded is forgotten, so that each has modules of its own,
// and with them a default registry of its own. The process is shared, so a file must leave it as it was.
import { isDeepStrictEqual } from "node:util";
import { afterAll, vi } from "vitest";

vi.resetModules();

const { loaded } = await import("./loaded.ts");
if (loaded.before) throw new Error("Modules of the test file before are still loaded.");
loaded.before = true;

const before = stateOfProcess();

// The first hook that is added runs last.
afterAll(() => {
  if (!isDeepStrictEqual(stateOfProcess(), before))
    throw new Error(
      "The test file leaves fake timers, another working folder or other environment variables behind.",
    );
});

function stateOfProcess() {
  return { folder: process.cwd(), environment: { ...process.env }, hasFakeTimers: vi.isFakeTimers() };
}
