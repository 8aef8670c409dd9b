// The command line of one process in a container.

import { isAbsolute, normalize } from "node:path";
import { requireType, requireValue } from "../../error/check.ts";
import { namesInContainer } from "../container-path.ts";
import { proxyEnvironment, throughForwarder } from "../network/forwarder.ts";
import type { ExecRequest, SandboxLimits, SandboxMount } from "../sandbox.ts";
import { baseEnvironment, nodeInside, workFolder } from "./host.ts";

/** Processes of a container that are not the code's: bwrap's own, one for each exec. */
export const ownProcesses = 8;

const openFiles = 512;
const socketInside = "/run/rondo/proxy.sock";

const namespaces = ["user", "pid", "ipc", "uts", "cgroup", "net"].map((name) => `--unshare-${name}`);

export interface Launch {
  readonly systemArgs: readonly string[];
  /** The container's folder on this machine. */
  readonly folder: string;
  readonly mounts: readonly SandboxMount[];
  readonly limits: SandboxLimits;
  readonly request: ExecRequest;
  /** The file socket of the way out on this machine, where there is one. */
  readonly proxySocket: string | undefined;
  /** Whether memory has to be limited for each process, because no group does it for all. */
  readonly countsMemory: boolean;
}

/** `options` go through a pipe, so that the code does not see paths of this machine in the list of processes. */
export function launchArguments(launch: Launch): {
  options: readonly string[];
  command: readonly string[];
} {
  const { systemArgs, folder, mounts, limits, request, proxySocket, countsMemory } = launch;
  const environment = {
    ...baseEnvironment,
    ...(proxySocket !== undefined && proxyEnvironment),
    ...checkEnvironment(request.env ?? {}),
  };
  const cwd = request.cwd === undefined ? workFolder : `${workFolder}/${folderInside(request.cwd)}`;
  const options = [
    namespaces,
    ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"],
    ["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"],
    systemArgs,
    ["--bind", `${folder}/tmp`, "/tmp", "--bind", `${folder}/tmp`, "/dev/shm", "--remount-ro", "/dev"],
    ["--bind", `${folder}/data`, workFolder],
    ...mounts.map(({ source, target, isWritable }) => [isWritable ? "--bind" : "--ro-bind", source, target]),
    proxySocket === undefined ? [] : ["--bind", proxySocket, socketInside],
    ["--remount-ro", "/", "--chdir", cwd],
    ...Object.entries(environment).map(([name, value]) => ["--setenv", name, value]),
  ].flat();
  const command = [
    "/usr/bin/prlimit",
    "--core=0",
    `--nofile=${openFiles}`,
    `--fsize=${limits.diskBytes}`,
    "--memlock=65536",
    // A group counts processes too, and says so when there are too many, so it must be the first to refuse one.
    `--nproc=${(limits.processes + ownProcesses) * (countsMemory ? 1 : 2)}`,
    ...(countsMemory ? [`--data=${limits.memoryBytes}`] : []),
    ...(proxySocket === undefined
      ? checkCommand(request.command)
      : throughForwarder(checkCommand(request.command), { node: nodeInside, socketPath: socketInside })),
  ];
  return { options, command };
}

function folderInside(cwd: string): string {
  const isWorkFolder = ["", ".", "./", workFolder, `${workFolder}/`].includes(cwd);
  return isWorkFolder ? "" : namesInContainer(cwd).join("/");
}

function checkCommand(command: ExecRequest["command"]): ExecRequest["command"] {
  requireType(
    Array.isArray(command) && command.length > 0,
    "command",
    "a program and its arguments",
    command,
  );
  for (const [index, argument] of command.entries()) checkText(`command[${index}]`, argument);
  requireValue(!command[0]?.startsWith("-"), "command[0]", "a program", command[0]);
  return command;
}

function checkEnvironment(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(env)) {
    requireValue(/^[A-Za-z_][A-Za-z0-9_]*$/.test(name), "env", "names of letters, digits and '_'", name);
    checkText(`env.${name}`, value);
  }
  return env;
}

/** Arguments are separated by zero bytes on their way. */
function checkText(field: string, value: unknown): void {
  requireType(typeof value === "string", field, "a string", value);
  requireValue(!value.includes("\0"), field, "a string without zero bytes", value);
}

const systemFolders = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib64",
  "/proc",
  "/sys",
  "/dev",
  "/etc",
  "/tmp",
  "/opt/rondo",
];

export function checkMounts(mounts: readonly SandboxMount[]): readonly SandboxMount[] {
  for (const [index, { source, target }] of mounts.entries()) {
    const field = `mounts[${index}]`;
    const isPath = (path: unknown) =>
      typeof path === "string" && isAbsolute(path) && normalize(path) === path;
    requireValue(isPath(source) && source !== "/", `${field}.source`, "an absolute path of a folder", source);
    requireValue(isPath(target) && target !== "/", `${field}.target`, "an absolute path", target);
    const clash = [...systemFolders, workFolder].find(
      (folder) => target === folder || target.startsWith(`${folder}/`),
    );
    requireValue(clash === undefined, `${field}.target`, `a path outside ${clash}`, target);
    checkText(`${field}.source`, source);
    checkText(`${field}.target`, target);
  }
  return mounts;
}
