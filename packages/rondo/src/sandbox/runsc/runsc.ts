// The runsc tier: each process under the kernel of gVisor, which takes its system calls instead of the machine's.

import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { checkOptions, requireValue } from "../../error/check.ts";
import { type BwrapOptions, LocalSandbox } from "../bwrap/bwrap.ts";
import type { Launcher } from "../bwrap/container.ts";
import { gateFd, infoFd, startFd } from "../bwrap/execution.ts";
import { launchArguments } from "../bwrap/launch.ts";
import type { PreparedHost } from "../bwrap/prepare.ts";
import type { Sandbox } from "../sandbox.ts";
import { writeBundle } from "./oci-config.ts";
import { platformOf } from "./platform.ts";
import { probeRunsc } from "./probes.ts";

export interface RunscOptions extends Omit<BwrapOptions, "usesCgroups"> {
  /** How gVisor takes system calls: `systrap`, `kvm`, `ptrace`. Default: `systrap`, for old versions `ptrace`. */
  readonly platform?: string;
}

/** A sandbox on this machine, by gVisor. Linux only, as root. Runs nothing until its probes held. */
export function runsc(options: RunscOptions = {}): Sandbox {
  checkOptions("options", options, ["folder", "limits", "program", "egress", "platform"]);
  const { platform, ...local } = options;
  const isKnown = platform === undefined || /^[a-z]+$/.test(platform);
  requireValue(isKnown, "options.platform", "'systrap', 'kvm' or 'ptrace'", platform);
  return new LocalSandbox(local, {
    kind: "runsc",
    launcher: (host) => launcherOf(host, platform ?? platformOf(host.program)),
    probe: probeRunsc,
  });
}

/**
 * Says which process it is and waits, as bwrap does, so that runsc and all that it starts are in the group. They end
 * with the process that started them.
 */
const script = `printf '{"child-pid": %d}' $$ >&${infoFd}; echo ready >&${gateFd} && read -r word <&${gateFd} && [ "$word" = start ] && exec "$@" 3<&- 4<&- ${infoFd}>&- ${startFd}<&- ${gateFd}<&-`;

/** What gVisor's kernel takes for itself. */
const ownMemoryBytes = 128 * 1024 * 1024;
/**
 * Its threads, and those of the process that opens files for it: up to 180 for a dozen small programs one after the
 * other, and 230 with the way out.
 */
const ownProcesses = 320;

/** A kernel takes a moment to start. */
const startMs = 1000;

function launcherOf({ program, temporary }: PreparedHost, platform: string): Launcher {
  return {
    ownMemoryBytes,
    ownProcesses,
    startMs,
    hasGroupPerExec: true,
    startsAsUser: false,
    launch(launch, user) {
      const { options, command } = launchArguments(launch);
      const name = `r${randomBytes(6).toString("hex")}`;
      const folder = join(temporary, name);
      mkdirSync(folder, { mode: 0o711 });
      writeBundle({ folder, options, command, user: user ?? 65_534 });
      const flags = [
        `--root=${join(folder, "state")}`,
        `--log=${join(folder, "log")}`,
        `--platform=${platform}`,
        "--network=none",
        "--ignore-cgroups",
        "--overlay2=none",
        // Only the socket of the proxy is mounted.
        ...(launch.proxySocket === undefined ? [] : ["--host-uds=open"]),
      ];
      const start = [program, ...flags, "run", `--bundle=${folder}`, name];
      return {
        program: "/usr/bin/setpriv",
        args: ["--pdeathsig", "KILL", "/bin/sh", "-c", script, "runsc", ...start],
        options: [],
        release: () => rmSync(folder, { recursive: true, force: true }),
      };
    },
  };
}
