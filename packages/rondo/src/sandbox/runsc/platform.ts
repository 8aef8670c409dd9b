// Which platform a version of runsc has.

import { spawnSync } from "node:child_process";

const maxMs = 10_000;

/** `systrap`, the default of gVisor since 2023, or `ptrace`. `kvm` is used only where it is asked for. */
export function platformOf(program: string): "systrap" | "ptrace" {
  const { stdout } = spawnSync(program, ["help", "platforms"], { encoding: "utf8", timeout: maxMs });
  return /^\s*systrap\b/m.test(stdout ?? "") ? "systrap" : "ptrace";
}
