// Files that have no name any more take up the disk as long as a process has them open or in its memory.

import { readdir, readFile, stat } from "node:fs/promises";

/** Of the file system that the kernel keeps shared memory in, which is not on the disk. */
const sharedMemoryDevice = 1;
const mapping = /^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ (\S+) ([1-9]\d*) .* \(deleted\)$/;

/** How much they take up for these processes. Descriptors on their way through a socket are not seen. */
export async function deletedBytes(pids: readonly number[]): Promise<number> {
  const bytesOf = new Map<string, number>();
  for (const pid of pids) {
    const open = await readdir(`/proc/${pid}/fd`).catch(() => []);
    await Promise.all(open.map((descriptor) => addDeleted(`/proc/${pid}/fd/${descriptor}`, bytesOf)));
    const maps = await readFile(`/proc/${pid}/maps`, "latin1").catch(() => "");
    for (const line of maps.split("\n")) {
      const [, start = "", end = "", device, inode = ""] = mapping.exec(line) ?? [];
      if (inode === "" || device === "00:01" || bytesOf.has(inode)) continue;
      if (await addDeleted(`/proc/${pid}/map_files/${start}-${end}`, bytesOf)) continue;
      // Only root may look at it closer.
      bytesOf.set(inode, Number.parseInt(end, 16) - Number.parseInt(start, 16));
    }
  }
  return [...bytesOf.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** Whether the file could be looked at. */
async function addDeleted(path: string, bytesOf: Map<string, number>): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() && found.nlink === 0 && found.dev !== sharedMemoryDevice)
    bytesOf.set(String(found.ino), found.blocks * 512);
  return found !== undefined;
}
