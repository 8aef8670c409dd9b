// Control groups, of version 1 or 2: the kernel's own limits of memory and processes for a container.

import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The group of one container. */
export interface ContainerGroup {
  add(pid: number): void;
  /** How many processes were killed because the memory was used up. */
  memoryKills(): number;
  /** How many times a process could not be started because there were too many. */
  refusedProcesses(): number;
  /** Fails silently while processes are left; the janitor tries again. */
  remove(): void;
}

/** Where groups can be made: below the group of this process. */
export interface CgroupPlace {
  readonly version: 1 | 2;
  /** One folder per hierarchy. */
  readonly bases: readonly string[];
  group(id: string, limits: { readonly memoryBytes: number; readonly processes: number }): ContainerGroup;
}

/** Makes the folder `name` for groups of containers. Throws with the reason if this process may not. */
export function makeCgroupPlace(name: string, proc = "/proc/self"): CgroupPlace {
  const own = readFileSync(join(proc, "cgroup"), "utf8");
  const mounts = cgroupMounts(readFileSync(join(proc, "mountinfo"), "utf8"));
  const memory = mounts.find(({ type, options }) => type === "cgroup" && options.includes("memory"));
  const pids = mounts.find(({ type, options }) => type === "cgroup" && options.includes("pids"));
  if (memory !== undefined && pids !== undefined)
    return placeV1(join(ownFolder(memory, own), name), join(ownFolder(pids, own), name));
  const unified = mounts.find(({ type }) => type === "cgroup2");
  if (unified === undefined) throw new Error("No cgroup file system is mounted.");
  const folder = ownFolder(unified, own);
  try {
    return placeV2(folder, name);
  } catch {
    // A group with controllers has no processes itself. Beside this process's own group, a service manager may have
    // left room: systemd does with Delegate=yes and DelegateSubgroup=.
    return placeV2(dirname(folder), name);
  }
}

interface CgroupMount {
  readonly type: string;
  /** The part of the hierarchy that is mounted. */
  readonly root: string;
  readonly folder: string;
  readonly options: readonly string[];
}

function cgroupMounts(mountinfo: string): CgroupMount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [mount = "", device = ""] = line.split(" - ");
    const [, , , root = "/", folder = ""] = mount.split(" ");
    const [type = "", , options = ""] = device.split(" ");
    return type.startsWith("cgroup") ? [{ type, root, folder, options: options.split(",") }] : [];
  });
}

function ownFolder({ type, root, folder, options }: CgroupMount, own: string): string {
  for (const line of own.split("\n")) {
    const [, controllers = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const isThis =
      type === "cgroup2"
        ? line.startsWith("0::")
        : controllers !== "" && controllers.split(",").every((name) => options.includes(name));
    if (isThis) return join(folder, isBelow(path, root) ? path.slice(root.length) : path);
  }
  return folder;
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`);
}

function placeV1(memoryBase: string, pidsBase: string): CgroupPlace {
  for (const base of [memoryBase, pidsBase]) mkdirSync(base);
  return {
    version: 1,
    bases: [memoryBase, pidsBase],
    group(id, limits) {
      const memory = join(memoryBase, id);
      const pids = join(pidsBase, id);
      for (const folder of [memory, pids]) mkdirSync(folder, { recursive: true });
      writeFileSync(join(memory, "memory.limit_in_bytes"), String(limits.memoryBytes));
      writeIfThere(join(memory, "memory.memsw.limit_in_bytes"), String(limits.memoryBytes));
      writeFileSync(join(pids, "pids.max"), String(limits.processes));
      return {
        add(pid) {
          for (const folder of [memory, pids]) writeFileSync(join(folder, "cgroup.procs"), String(pid));
        },
        memoryKills: () => countIn(join(memory, "memory.oom_control"), "oom_kill"),
        refusedProcesses: () => countIn(join(pids, "pids.events"), "max"),
        remove: () => [memory, pids].forEach(removeGroup),
      };
    },
  };
}

function placeV2(own: string, name: string): CgroupPlace {
  const base = join(own, name);
  mkdirSync(base);
  try {
    enableControllers(own);
    enableControllers(base);
  } catch (error) {
    removeGroup(base);
    throw error;
  }
  return { version: 2, bases: [base], group: (id, limits) => groupV2(join(base, id), limits) };
}

export function groupV2(folder: string, limits: Parameters<CgroupPlace["group"]>[1]): ContainerGroup {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "memory.max"), String(limits.memoryBytes));
  writeIfThere(join(folder, "memory.swap.max"), "0");
  writeFileSync(join(folder, "pids.max"), String(limits.processes));
  return {
    add: (pid) => writeFileSync(join(folder, "cgroup.procs"), String(pid)),
    memoryKills: () => countIn(join(folder, "memory.events"), "oom_kill"),
    refusedProcesses: () => countIn(join(folder, "pids.events"), "max"),
    remove: () => removeGroup(folder),
  };
}

function enableControllers(folder: string): void {
  const control = join(folder, "cgroup.subtree_control");
  const enabled = readFileSync(control, "utf8").trim().split(" ");
  if (enabled.includes("memory") && enabled.includes("pids")) return;
  writeFileSync(control, "+memory +pids");
}

function removeGroup(folder: string): void {
  try {
    for (const child of readdirSync(folder, { withFileTypes: true }))
      if (child.isDirectory()) rmdirSync(join(folder, child.name));
    rmdirSync(folder);
  } catch {
    // Processes are left in it, or it is gone.
  }
}

function countIn(file: string, name: string): number {
  try {
    return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(readFileSync(file, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function writeIfThere(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "r+" });
  } catch {
    // The kernel does not count swap.
  }
}
