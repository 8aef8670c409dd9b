// One bwrap tier for the tests of a file: its probes run once. Servers close their tier; this one outlives them.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bwrap, type Sandbox } from "rondo/sandbox";
import { afterAll } from "vitest";

export interface SharedTier {
  readonly tier: Sandbox;
  /** Why no code can be run here; undefined if it can. */
  readonly problem: string | undefined;
}

export async function sharedTier(): Promise<SharedTier> {
  const folder = mkdtempSync(join(tmpdir(), "rondo-sandbox-"));
  const tier = bwrap({ folder });
  const { isAvailable, probes } = await tier.check();
  const failed = probes.filter(({ holds, isRequired }) => isRequired && !holds);
  afterAll(async () => {
    await tier.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const shared: Sandbox = {
    kind: tier.kind,
    check: (signal) => tier.check(signal),
    open: (options) => tier.open(options),
    containers: (signal) => tier.containers(signal),
    remove: (id, signal) => tier.remove(id, signal),
    close: async () => {},
  };
  return { tier: shared, problem: isAvailable ? undefined : failed.map(({ detail }) => detail).join(" ") };
}
