// Where groups are made and what is written to them, in folders that stand in for the file systems of the kernel. The
// limits themselves are tested with the tier, on the version that the machine has.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { groupV2, makeCgroupPlace } from "./cgroup.ts";

const limits = { memoryBytes: 1000, processes: 10 };
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rondo-cgroup-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** What the kernel says about this process, with mounts below the folder of the test. */
function proc(cgroup: string, mounts: readonly (readonly [part: string, folder: string, type: string])[]) {
  writeFileSync(join(root, "cgroup"), cgroup);
  const lines = mounts.map(([part, at, type]) => `30 20 0:26 ${part} ${join(root, at)} rw - ${type}`);
  writeFileSync(join(root, "mountinfo"), lines.join("\n"));
}

test("version 2: a group has its limits, takes processes, and counts what the kernel tells", () => {
  const folder = join(root, "one");
  mkdirSync(folder);
  writeFileSync(join(folder, "memory.swap.max"), "");
  const group = groupV2(folder, limits);
  group.add(42);
  const written = (name: string) => readFileSync(join(folder, name), "utf8");
  expect(["memory.max", "memory.swap.max", "pids.max", "cgroup.procs"].map(written)).toEqual([
    "1000",
    "0",
    "10",
    "42",
  ]);
  expect([group.memoryKills(), group.refusedProcesses()]).toEqual([0, 0]);
  writeFileSync(join(folder, "memory.events"), "low 0\nmax 7\noom 2\noom_kill 1\noom_group_kill 0\n");
  writeFileSync(join(folder, "pids.events"), "max 5\n");
  expect([group.memoryKills(), group.refusedProcesses()]).toEqual([1, 5]);
});

test("version 2: nothing is left where the controllers cannot be had, neither here nor beside it", () => {
  mkdirSync(join(root, "fs/service"), { recursive: true });
  for (const path of ["fs", "fs/service"]) writeFileSync(join(root, path, "cgroup.subtree_control"), "cpu\n");
  proc("0::/service\n", [["/", "fs", "cgroup2 cgroup2 rw,nsdelegate"]]);
  // The kernel would make the files of a new group; without them, its controllers cannot be turned on.
  expect(() => makeCgroupPlace("place", root)).toThrow(join(root, "fs/place"));
  for (const path of ["fs/place", "fs/service/place"]) expect(existsSync(join(root, path))).toBe(false);
});

test("the part of a hierarchy that is mounted is taken off, but not from a name that only begins like it", () => {
  for (const [path, at] of [
    ["/docker/abc", "memory/place"],
    ["/docker/abc/inner", "memory/inner/place"],
    ["/docker/abcd", "memory/docker/abcd/place"],
  ] as const) {
    for (const controller of ["memory", "pids"])
      mkdirSync(join(root, at, "..").replace("memory", controller), { recursive: true });
    proc(`4:memory:${path}\n8:pids:${path}\n0::/\n`, [
      ["/docker/abc", "memory", "cgroup cgroup rw,memory"],
      ["/docker/abc", "pids", "cgroup cgroup rw,pids"],
    ]);
    const place = makeCgroupPlace("place", root);
    expect(place.version).toBe(1);
    expect(place.bases[0]).toBe(join(root, at));
    const group = place.group("one", limits);
    group.add(42);
    const memory = join(root, at, "one");
    expect(readFileSync(join(memory, "memory.limit_in_bytes"), "utf8")).toBe("1000");
    expect(readFileSync(join(memory, "cgroup.procs"), "utf8")).toBe("42");
    expect(group.memoryKills()).toBe(0);
    writeFileSync(join(memory, "memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    expect(group.memoryKills()).toBe(3);
  }
});
