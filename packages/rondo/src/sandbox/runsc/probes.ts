// The probes of the runsc tier: what must hold on this machine before it runs anything of a model.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BwrapContainer, type ContainerHost } from "../bwrap/container.ts";
import { findProgram } from "../bwrap/host.ts";
import { makeContainerFolder } from "../bwrap/make-folder.ts";
import type { PreparedHost } from "../bwrap/prepare.ts";
import {
  describeList,
  folderState,
  groupProbe,
  insideScript,
  ownVariables,
  type ProbeOptions,
} from "../bwrap/probes.ts";
import { defaultLimits } from "../limits.ts";
import { readExecution } from "../read-execution.ts";
import type { SandboxProbe } from "../sandbox.ts";

type AddProbe = (name: string, holds: boolean, detail: string, remedy?: string) => boolean;

/** Stops at the first probe on which the others depend. */
export async function probeRunsc({ folder, program, prepare, host }: ProbeOptions): Promise<SandboxProbe[]> {
  const probes: SandboxProbe[] = [];
  const required: AddProbe = (name, holds, detail, remedy) => {
    probes.push({ name, holds, isRequired: true, detail, ...(!holds && remedy !== undefined && { remedy }) });
    return holds;
  };
  const isLinux = process.platform === "linux";
  if (!required("platform", isLinux, `This is ${process.platform}; runsc needs Linux.`, "Use another tier."))
    return probes;
  const path = program ?? findProgram("runsc");
  const hasRunsc = path !== undefined && existsSync(path);
  const where = hasRunsc ? `runsc is ${path}.` : "runsc is not installed.";
  if (
    !required(
      "runsc",
      hasRunsc,
      where,
      "Install it: https://gvisor.dev/docs/user_guide/install, or apt install runsc.",
    )
  )
    return probes;
  const hasPrograms = ["/usr/bin/prlimit", "/usr/bin/setpriv"].every((file) => existsSync(file));
  if (
    !required(
      "programs",
      hasPrograms,
      "It needs prlimit and setpriv in /usr/bin.",
      "Install them: apt install util-linux.",
    )
  )
    return probes;
  const isRoot = process.getuid?.() === 0;
  if (
    !required(
      "root",
      isRoot,
      isRoot ? "This process is root." : "runsc needs root.",
      "Use bwrap, or start the server as root.",
    )
  )
    return probes;
  if (!required("folder", ...folderState(folder))) return probes;
  const prepared = await prepare();
  const groups = { ...groupProbe(prepared), isRequired: true };
  probes.push(groups);
  if (groups.holds) await probeInside(prepared, host(prepared), required);
  return probes;
}

async function probeInside(prepared: PreparedHost, host: ContainerHost, required: AddProbe): Promise<void> {
  const folder = join(prepared.temporary, "probe");
  makeContainerFolder(folder, prepared.temporary, {});
  const limits = { ...defaultLimits, timeoutMs: 20_000 };
  const container = new BwrapContainer(host, {
    id: "probe",
    isNew: true,
    folder,
    limits,
    mounts: [],
    network: undefined,
  });
  try {
    const script = `cat /proc/version | sed 's/^/kernel /'\n${insideScript}`;
    const command = ["/bin/sh", "-c", script, "probe", prepared.containers] as const;
    const { stdout, stderr, outcome } = await readExecution(await container.exec({ command }));
    const lines = stdout.split("\n");
    const all = (name: string) =>
      lines.flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []));
    const isRunning = outcome.type === "exit" && outcome.code === 0 && lines.includes("finished");
    const problem = `A program ended with ${JSON.stringify(outcome)}: ${stderr.trim().slice(0, 500)}`;
    const remedy =
      "Try another platform of gVisor ('systrap', 'ptrace', 'kvm'), or a newer version of runsc.";
    if (!required("gvisor", isRunning, isRunning ? "A program ran under gVisor." : problem, remedy)) return;
    const kernel = all("kernel").join();
    const isOther = kernel !== "" && kernel !== readFileSync("/proc/version", "utf8").trim();
    required("own_kernel", isOther, `The kernel that it sees: ${kernel}.`);
    const capabilities = all("CapEff").join();
    required("no_privileges", capabilities === "0000000000000000", `Capabilities: ${capabilities}.`);
    const visible = all("visible").filter((path) => path !== "/sys" && path !== "/run");
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
