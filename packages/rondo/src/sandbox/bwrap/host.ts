// What this machine gives to the sandbox: programs, the system's folders, and who the processes run as.

import { accessSync, constants, existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where Node is in a container, whatever its path outside. */
export const nodeInside = "/opt/rondo/bin/node";
export const workFolder = "/mnt/data";

/** The environment of all programs in a container. HOME is not among the user's files. */
export const baseEnvironment: Readonly<Record<string, string>> = {
  PATH: "/opt/rondo/bin:/usr/local/bin:/usr/bin:/bin",
  HOME: "/tmp",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
};

/** What programs need of /etc: libraries, fonts, certificates. Nothing about this machine or its users. */
const etcEntries = [
  "alternatives",
  "fonts",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "matplotlibrc",
  "mime.types",
  "ssl/certs",
  "ssl/openssl.cnf",
];

/** Parts of /proc that are of no use inside. */
const maskedFiles = ["kcore", "keys", "key-users", "kmsg", "sysrq-trigger", "timer_list", "sched_debug"];
const maskedFolders = ["acpi", "scsi", "irq", "bus", "fs", "driver", "asound", "sys"];

/** The mounts of the system, as arguments of bwrap. They are the same for all containers. */
export function systemMounts(): string[] {
  const args = ["--ro-bind", "/usr", "/usr"];
  for (const folder of ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]) {
    const stat = lstatSync(folder, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink()) args.push("--symlink", readlinkSync(folder), folder);
    else if (stat?.isDirectory()) args.push("--ro-bind", folder, folder);
  }
  for (const entry of etcEntries) {
    const path = join("/etc", entry);
    if (existsSync(path)) args.push("--ro-bind", realpathSync(path), path);
  }
  args.push("--proc", "/proc", "--dev", "/dev");
  for (const name of maskedFiles)
    if (existsSync(`/proc/${name}`)) args.push("--ro-bind", "/dev/null", `/proc/${name}`);
  for (const name of maskedFolders)
    if (existsSync(`/proc/${name}`)) args.push("--tmpfs", `/proc/${name}`, "--remount-ro", `/proc/${name}`);
  return args;
}

/** Looks a program up in the usual folders. */
export function findProgram(name: string): string | undefined {
  for (const folder of ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin"]) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not here.
    }
  }
  return undefined;
}

/** The first folder above the path that other users may not enter; undefined if all may. */
export function closedFolder(path: string): string | undefined {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return folder;
    if (folder === "/") return undefined;
  }
}
