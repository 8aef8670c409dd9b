// What the tier sets up once: folders, the filter, a place for groups, the janitor.

import { randomBytes } from "node:crypto";
import { chmodSync, copyFileSync, linkSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CgroupPlace, makeCgroupPlace } from "./cgroup.ts";
import { DiskWatch } from "./disk-watch.ts";
import { closedFolder, findProgram, nodeInside, systemMounts } from "./host.ts";
import { Janitor } from "./janitor.ts";
import { OutputPipes } from "./output-pipes.ts";
import { startTimeOf } from "./process-tree.ts";
import { removeTree } from "./remove-tree.ts";
import { type FilterArch, seccompFilter } from "./seccomp.ts";

export interface PreparedHost {
  /** The program that makes sandboxes. */
  readonly program: string;
  readonly filterFile: string;
  readonly systemArgs: readonly string[];
  readonly groups: CgroupPlace | undefined;
  /** Why there are no groups. */
  readonly groupsProblem: string | undefined;
  readonly diskWatch: DiskWatch;
  readonly pipes: OutputPipes;
  readonly containers: string;
  /** Containers that end with this process. */
  readonly temporary: string;
  readonly janitor: Janitor;
}

const groupPrefix = "rondo-sandbox-";
const temporaryPrefix = "temporary-";

export async function prepareHost(options: {
  readonly kind: string;
  readonly folder: string;
  readonly program: string | undefined;
  readonly usesCgroups: boolean;
}): Promise<PreparedHost> {
  const { folder } = options;
  const program = options.program ?? findProgram(options.kind);
  if (program === undefined) throw new Error(`${options.kind} is not installed.`);
  const isRoot = process.getuid?.() === 0;
  const containers = join(folder, "containers");
  mkdirSync(containers, { recursive: true, mode: 0o755 });
  // Others may pass, but not list. Each container is closed to everyone but its own user.
  for (const path of [folder, containers]) chmodSync(path, isRoot ? 0o711 : 0o700);
  await removeStale(folder);
  const instance = `${process.pid}-${startTimeOf(process.pid)}-${randomBytes(4).toString("hex")}`;
  const temporary = join(folder, `${temporaryPrefix}${instance}`);
  mkdirSync(temporary, { mode: isRoot ? 0o711 : 0o700 });
  const { groups, groupsProblem } = findGroups(options.usesCgroups, `${groupPrefix}${instance}`);
  // From here on, something is left behind if this process dies.
  const janitor = new Janitor(groups?.bases ?? [], [temporary]);
  const filterFile = join(temporary, "filter.bpf");
  writeFileSync(
    filterFile,
    seccompFilter(process.arch as FilterArch, { hasMemoryCgroup: groups !== undefined }),
  );
  return {
    program,
    filterFile,
    systemArgs: [
      ...systemMounts(),
      "--ro-bind",
      reachableNode(temporary, isRoot),
      nodeInside,
      ...accounts(temporary),
    ],
    groups,
    groupsProblem,
    diskWatch: new DiskWatch(folder),
    pipes: new OutputPipes(temporary),
    containers,
    temporary,
    janitor,
  };
}

function findGroups(
  isWanted: boolean,
  name: string,
): { groups: CgroupPlace | undefined; groupsProblem: string | undefined } {
  if (!isWanted) return { groups: undefined, groupsProblem: "They are turned off by usesCgroups: false." };
  try {
    const groups = makeCgroupPlace(name);
    // Making a group shows whether this process may set limits.
    groups.group("try", { memoryBytes: 64 * 1024 * 1024, processes: 16 }).remove();
    return { groups, groupsProblem: undefined };
  } catch (error) {
    return { groups: undefined, groupsProblem: error instanceof Error ? error.message : String(error) };
  }
}

/** Node, where the user of a container can reach it: its folder may be root's own. */
function reachableNode(temporary: string, isRoot: boolean): string {
  const node = process.execPath;
  if (!isRoot || closedFolder(node) === undefined) return node;
  const copy = join(temporary, "node");
  try {
    linkSync(node, copy);
  } catch {
    copyFileSync(node, copy);
    chmodSync(copy, 0o755);
  }
  return copy;
}

/** Programs ask for the name of their user. */
function accounts(temporary: string): string[] {
  const files = {
    passwd:
      "sandbox:x:1000:1000:sandbox:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    group: "sandbox:x:1000:\nnogroup:x:65534:\n",
    hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
  };
  return Object.entries(files).flatMap(([name, text]) => {
    const path = join(temporary, name);
    writeFileSync(path, text, { mode: 0o644 });
    return ["--ro-bind", path, `/etc/${name}`];
  });
}

/** What processes left whose janitor could not work either: the machine was turned off. */
async function removeStale(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(temporaryPrefix)) continue;
    const [pid = "", startTime] = name.slice(temporaryPrefix.length).split("-");
    if (startTimeOf(Number(pid)) === startTime) continue;
    await removeTree(join(folder, name));
  }
}
