// The probes of the bwrap tier: what must hold on this machine before it runs anything of a model.

import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { defaultLimits } from "../limits.ts";
import { readExecution } from "../read-execution.ts";
import type { SandboxProbe } from "../sandbox.ts";
import { BwrapContainer, type ContainerHost } from "./container.ts";
import { closedFolder, findProgram } from "./host.ts";
import { makeContainerFolder } from "./make-folder.ts";
import type { PreparedHost } from "./prepare.ts";

export interface ProbeOptions {
  readonly folder: string;
  readonly program: string | undefined;
  readonly prepare: () => Promise<PreparedHost>;
  readonly host: (host: PreparedHost) => ContainerHost;
}

/** Prints what a process inside sees, each line after its name. */
export const insideScript = `
sed -n 's/^\\(CapEff\\|CapBnd\\|NoNewPrivs\\|Seccomp\\):[[:space:]]*/\\1 /p' /proc/self/status
for path in /home /root /var /run /srv /sys /etc/shadow /etc/ssh "$1"; do [ -e "$path" ] && echo "visible $path"; done
for file in /usr/rondo-probe /rondo-probe /etc/rondo-probe; do (: > "$file") 2>/dev/null && echo "writable $file"; done
sed -n 's/^ *\\([^ :]*\\):.*/device \\1/p' /proc/net/dev
for process in /proc/[0-9]*; do echo "process \${process#/proc/}"; done
env | sed 's/^/variable /;s/=.*//'
echo finished
`;

/** Stops at the first probe on which the others depend. */
export async function probeHost({ folder, program, prepare, host }: ProbeOptions): Promise<SandboxProbe[]> {
  const probes: SandboxProbe[] = [];
  const required = (name: string, holds: boolean, detail: string, remedy?: string): boolean => {
    const isRequired = true;
    probes.push({ name, holds, isRequired, detail, ...(!holds && remedy !== undefined && { remedy }) });
    return holds;
  };
  const { platform, arch } = process;
  const isKnown = platform === "linux" && (arch === "x64" || arch === "arm64");
  if (
    !required(
      "platform",
      isKnown,
      `This is ${platform} on ${arch}; bubblewrap needs Linux on x64 or arm64.`,
      "Use another tier of sandbox, or a virtual machine with Linux.",
    )
  )
    return probes;
  const path = program ?? findProgram("bwrap");
  const hasBwrap = path !== undefined && existsSync(path);
  if (
    !required(
      "bwrap",
      hasBwrap,
      hasBwrap ? `bubblewrap is ${path}.` : "bubblewrap is not installed.",
      "Install it: apt install bubblewrap, or dnf install bubblewrap.",
    )
  )
    return probes;
  const hasPrlimit = existsSync("/usr/bin/prlimit");
  if (
    !required(
      "prlimit",
      hasPrlimit,
      hasPrlimit ? "prlimit is /usr/bin/prlimit." : "/usr/bin/prlimit is missing.",
      "Install it: apt install util-linux.",
    )
  )
    return probes;
  if (!required("folder", ...folderState(folder))) return probes;
  const prepared = await prepare();
  await probeInside(prepared, host(prepared), required);
  probes.push(groupProbe(prepared));
  return probes;
}

export function folderState(folder: string): [holds: boolean, detail: string, remedy?: string] {
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o755 });
    const closed = process.getuid?.() === 0 ? closedFolder(folder) : undefined;
    if (closed === undefined) return [true, `Containers are in ${folder}.`];
    return [
      false,
      `Containers cannot be in ${folder}: this process is root, so they run as other users, and those may not enter ${closed}.`,
      `Set the folder of the sandbox to one that they may, such as /var/lib/rondo/sandbox, or run: chmod o+x ${closed}`,
    ];
  } catch (error) {
    return [false, `The folder ${folder} cannot be made: ${String(error)}.`, "Set another folder."];
  }
}

async function probeInside(
  prepared: PreparedHost,
  host: ContainerHost,
  required: (name: string, holds: boolean, detail: string, remedy?: string) => boolean,
): Promise<void> {
  const id = "probe";
  const folder = join(prepared.temporary, id);
  makeContainerFolder(folder, prepared.temporary, {});
  const container = new BwrapContainer(host, {
    id,
    isNew: true,
    folder,
    limits: { ...defaultLimits, timeoutMs: 10_000 },
    mounts: [],
    network: undefined,
  });
  try {
    const command = ["/bin/sh", "-c", insideScript, "probe", prepared.containers] as const;
    const { stdout, stderr, outcome } = await readExecution(await container.exec({ command }));
    const lines = stdout.split("\n");
    const has = (line: string) => lines.includes(line);
    const all = (name: string) =>
      lines.flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []));
    const isRunning = outcome.type === "exit" && outcome.code === 0 && has("finished");
    const isHeld = required(
      "namespaces",
      isRunning,
      isRunning
        ? "A program ran in namespaces of its own."
        : `A program in namespaces of its own ended with ${JSON.stringify(outcome)}: ${stderr.trim().slice(0, 500)}`,
      namespaceRemedy(),
    );
    if (!isHeld) return;
    required("seccomp", has("Seccomp 2"), `The filter of system calls: ${all("Seccomp").join()}; 2 is on.`);
    const isBare = has("CapEff 0000000000000000") && has("CapBnd 0000000000000000") && has("NoNewPrivs 1");
    required(
      "no_privileges",
      isBare,
      `Capabilities ${all("CapEff").join()}, bounding set ${all("CapBnd").join()}.`,
    );
    const visible = all("visible");
    required("host_files", visible.length === 0, describeList("Folders of the host that it sees", visible));
    const writable = all("writable");
    required(
      "read_only_system",
      writable.length === 0,
      describeList("Files of the system that it can write", writable),
    );
    const devices = all("device").filter((name) => name !== "lo");
    required(
      "no_network",
      devices.length === 0,
      describeList("Network devices besides the loopback", devices),
    );
    const processes = all("process");
    required("host_processes", processes.length < 12, `It sees ${processes.length} processes, all its own.`);
    const variables = all("variable").filter((name) => !ownVariables.has(name));
    required(
      "no_environment",
      variables.length === 0,
      describeList("Variables of the host that it sees", variables),
    );
  } finally {
    await container.close();
  }
}

export const ownVariables = new Set(["PATH", "HOME", "TMPDIR", "LANG", "PWD", "OLDPWD", "SHLVL", "_"]);

export function describeList(title: string, values: readonly string[]): string {
  return values.length === 0 ? `${title}: none.` : `${title}: ${values.slice(0, 10).join(", ")}.`;
}

function namespaceRemedy(): string {
  return "Allow user namespaces: sysctl user.max_user_namespaces above 0, on older Debian kernel.unprivileged_userns_clone=1, on Ubuntu an AppArmor profile for bwrap or kernel.apparmor_restrict_unprivileged_userns=0; in a container of Docker, a seccomp profile that allows unshare and mount.";
}

export function groupProbe({ groups, groupsProblem }: PreparedHost): SandboxProbe {
  const name = "cgroup";
  if (groups !== undefined) {
    const detail = `Memory and processes are limited by a control group (version ${groups.version}).`;
    return { name, holds: true, isRequired: false, detail };
  }
  return {
    name,
    holds: false,
    isRequired: false,
    detail: `There are no control groups: ${groupsProblem} Memory is limited for each process by the kernel, and for all together by looking every 50 ms.`,
    remedy:
      "Start the server as a service of systemd with Delegate=yes and DelegateSubgroup=server, or as root.",
  };
}
