// What the processes below one process use, as /proc tells.

import { readdirSync, readFileSync } from "node:fs";

export interface TreeUsage {
  /** CPU time of the living processes, and of those that they waited for. */
  readonly cpuMs: number;
  readonly processes: number;
  /** Memory that belongs to them alone or is shared without a file. */
  readonly memoryBytes: number;
}

/** Linux counts CPU time in hundredths of a second for programs, whatever its own clock is. */
const msPerTick = 10;
/** A tree that is larger has reached every limit anyway. */
const maxProcesses = 5000;

/** `withMemory` reads one more file for each process. */
export function treeUsage(rootPid: number, { withMemory }: { withMemory: boolean }): TreeUsage {
  let cpuMs = 0;
  let processes = 0;
  let memoryBytes = 0;
  for (const pid of processTree(rootPid)) {
    const stat = read(`/proc/${pid}/stat`);
    if (stat === "") continue;
    // The name of the program comes second, in parentheses, and may have anything in it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    for (const field of fields.slice(11, 15)) cpuMs += Number(field) * msPerTick;
    processes += Number(fields[17]);
    if (withMemory) memoryBytes += memoryOf(pid);
    if (processes >= maxProcesses) break;
  }
  return { cpuMs, processes, memoryBytes };
}

/** A process and all below it. */
export function* processTree(rootPid: number): Generator<number> {
  const pids = [rootPid];
  let count = 0;
  for (let pid = pids.pop(); pid !== undefined && count < maxProcesses; pid = pids.pop()) {
    yield pid;
    count++;
    // Each thread has the children that it started.
    for (const thread of threadsOf(pid))
      for (const child of read(`/proc/${pid}/task/${thread}/children`).split(" "))
        if (child.trim() !== "") pids.push(Number(child));
  }
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function memoryOf(pid: number): number {
  const status = read(`/proc/${pid}/status`);
  let kilobytes = 0;
  for (const name of ["RssAnon", "RssShmem", "VmPTE"])
    kilobytes += Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
  return kilobytes * 1024;
}

/** Empty for a process that ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** When a process started, in ticks since the machine did: with its id it names the process, also after ids wrapped. */
export function startTimeOf(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat === "" ? undefined : stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}
