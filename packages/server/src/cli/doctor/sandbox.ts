// Checks the sandbox: which tier works here, and what its probes found.

import { type Finding, failed, ok, warning } from "../../check/finding.ts";
import type { ServerConfig } from "../../config/schema.ts";
import type { InstallCheck } from "./report.ts";

/** Runs the probes of the config's tier. */
export async function checkSandbox(config: ServerConfig | undefined): Promise<InstallCheck> {
  return { name: "sandbox", ...(await findingOf(config)) };
}

async function findingOf(config: ServerConfig | undefined): Promise<Finding> {
  if (!config) return skipped("no_config", "the sandbox is unknown without a valid config");
  if (config.sandbox.kind === "none") return skipped("sandbox_off", "sandbox: off (sandbox.kind is none)");
  // Loaded only here: most commands run no code.
  const { checkSandbox: tryOut } = await import("../../http/check-sandbox.ts");
  try {
    const { state, check } = await tryOut(config);
    if (!state.isOn) {
      const make = config.sandbox.kind === "auto" ? warning : failed;
      return make("no_sandbox", `sandbox: ${state.reason}`);
    }
    const probes = check?.probes ?? [];
    const held = probes.filter(({ holds }) => holds).length;
    const summary = `sandbox ${state.kind}: runs ${languages[state.language]}; ${held} of ${probes.length} probes hold`;
    const weak = probes.filter(({ holds }) => !holds);
    if (weak.length === 0) return ok(summary);
    const details = weak.map(({ detail, remedy }) => (remedy ? `${detail} ${remedy}` : detail));
    return warning("weak_sandbox", `${summary}. ${details.join(" ")}`);
  } catch (error) {
    return failed("no_sandbox", `sandbox: it could not be tried. ${String(error)}`);
  }
}

const languages = { python: "Python", javascript: "JavaScript" } as const;

function skipped(code: string, message: string): Finding {
  return { status: "skipped", code, message };
}
