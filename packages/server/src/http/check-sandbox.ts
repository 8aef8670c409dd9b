// Tries out the sandbox of a config, for those who are not about to run code: the doctor.

import type { SandboxCheck } from "rondo/sandbox";
import type { ServerConfig } from "../config/schema.ts";
import { openTier } from "../executor/sandbox/open-tier.ts";
import { SandboxHost, type SandboxState } from "../executor/sandbox/sandbox-host.ts";

/** Runs the probes of the tier. `check` is undefined if there is none. */
export async function checkSandbox({
  sandbox: settings,
}: Pick<ServerConfig, "sandbox">): Promise<{ state: SandboxState; check: SandboxCheck | undefined }> {
  const host = new SandboxHost({ settings, openTier: () => openTier(settings), onWarning: () => {} });
  try {
    return { state: await host.state(), check: await host.check() };
  } finally {
    await host.close();
  }
}
