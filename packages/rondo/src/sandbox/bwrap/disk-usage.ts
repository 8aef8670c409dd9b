// How much the files of a container take up, and what has to go where that is too much.

import type { Dirent } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

export interface DiskLimits {
  readonly diskBytes: number;
  readonly files: number;
}

interface Entry {
  readonly path: string;
  readonly bytes: number;
  readonly changedAtMs: number;
}

export interface DiskUsage {
  readonly bytes: number;
  readonly files: number;
  /** Whether the walk ended early, because a limit was passed or folders are nested too deep. */
  readonly isOver: boolean;
}

/** Deeper folders count as too many. Walks by path would fail on them. */
const maxDepth = 60;

/** Counts blocks, not sizes: a file with holes takes up what it has. Links are not followed. */
export async function diskUsage(
  folders: readonly string[],
  { diskBytes, files }: DiskLimits,
): Promise<DiskUsage> {
  let usedBytes = 0;
  let count = 0;
  for await (const entry of walk(folders)) {
    usedBytes += entry.bytes;
    count++;
    if (entry.isTooDeep || usedBytes > diskBytes || count > files)
      return { bytes: usedBytes, files: count, isOver: true };
  }
  return { bytes: usedBytes, files: count, isOver: false };
}

/**
 * Removes what changed last until the rest is within the limits. No process may run in the container: a path could
 * turn into a link. The time of change is the kernel's; programs cannot set it.
 */
export async function trimToLimits(folders: readonly string[], limits: DiskLimits): Promise<number> {
  const entries: Entry[] = [];
  let bytes = 0;
  for await (const entry of walk(folders)) {
    if (entry.isTooDeep) {
      await rm(entry.path, { recursive: true, force: true });
      continue;
    }
    bytes += entry.bytes;
    entries.push(entry);
  }
  let files = entries.length;
  let removed = 0;
  entries.sort((a, b) => b.changedAtMs - a.changedAtMs);
  for (const entry of entries) {
    if (bytes <= limits.diskBytes && files <= limits.files) break;
    // A folder that is not empty stays: its files are in the list themselves.
    const isGone = await rm(entry.path, { force: true }).then(
      () => true,
      () => false,
    );
    if (!isGone) continue;
    bytes -= entry.bytes;
    files--;
    removed++;
  }
  return removed;
}

async function* walk(folders: readonly string[]): AsyncGenerator<Entry & { isTooDeep: boolean }> {
  const open = folders.map((folder) => ({ folder, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { folder, depth } = next;
    for (const batch of batches(await entriesOf(folder))) {
      const stats = await Promise.all(
        batch.map(({ name }) => lstat(join(folder, name)).catch(() => undefined)),
      );
      for (const [index, stat] of stats.entries()) {
        if (stat === undefined) continue;
        const path = join(folder, (batch[index] as Dirent).name);
        const isTooDeep = stat.isDirectory() && depth >= maxDepth;
        yield { path, bytes: stat.blocks * 512, changedAtMs: stat.ctimeMs, isTooDeep };
        if (stat.isDirectory() && !isTooDeep) open.push({ folder: path, depth: depth + 1 });
      }
    }
  }
}

/** Empty for a folder that is gone, or that its owner closed to itself: its content was counted before it did. */
function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}

function* batches(entries: readonly Dirent[]): Generator<readonly Dirent[]> {
  for (let start = 0; start < entries.length; start += 64) yield entries.slice(start, start + 64);
}
