// The probes: run once in a container and once without a sandbox.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readExecution } from "../../read-execution.ts";
import { type SuiteContext, shell } from "./context.ts";
import { type ProbeName, probeProgram, probes } from "./probe-program.ts";
import { type ProbeResults, parseResults, startTargets } from "./probe-targets.ts";

/** Not every machine has all of this to reach: an ordinary user, or a container without IPv6 or devices. */
const mayBeMissingOutside: ReadonlySet<ProbeName> = new Set([
  "tcp6",
  "network_devices",
  "io_uring",
  "keyring",
  "user_namespace",
  "bpf",
  "devices",
  ...(process.getuid?.() === 0
    ? []
    : (["kernel_settings", "kernel_memory", "kernel_log", "capabilities", "system_files"] as const)),
]);

export function probeTests({ test, withContainer, hasPython, options }: SuiteContext): void {
  if (!hasPython || !existsSync("/usr/bin/python3")) return;
  let results: Promise<{ inside: ProbeResults; outside: ProbeResults }> | undefined;

  async function runProbes(): Promise<{ inside: ProbeResults; outside: ProbeResults }> {
    const targets = await startTargets();
    try {
      const outside = await targets.runOutside();
      const inside = await withContainer({}, async (other) => {
        await shell(other, `echo secret > ${targets.marker}; echo secret > /tmp/${targets.marker}`);
        return withContainer({}, async (container) => {
          const command = ["python3", "-c", probeProgram] as const;
          const finished = await readExecution(await container.exec({ command, input: targets.input }));
          assert.equal(finished.stderr, "");
          return parseResults(finished.stdout);
        });
      });
      return { inside, outside };
    } finally {
      await targets.close();
    }
  }

  for (const [name, what] of Object.entries(probes) as [ProbeName, string][]) {
    test(`sandboxed code does not reach ${what}; without the sandbox it does`, async () => {
      results ??= runProbes();
      const { inside, outside } = await results;
      if (!mayBeMissingOutside.has(name))
        assert.equal(outside[name]?.isReached, true, `outside: ${outside[name]?.detail}`);
      if (options.exceptions?.[name] !== undefined) return;
      assert.equal(inside[name]?.isReached, false, `inside: ${inside[name]?.detail}`);
    });
  }
}
