// How much the files of a container take up, and what has to go where that is too much.

import { deletedBytes } from "./deleted-files.ts";
import { removeWalked, type WalkedEntry, walkFolders } from "./walk-folders.ts";

export interface DiskLimits {
  readonly diskBytes: number;
  readonly files: number;
}

export interface DiskUsage {
  readonly bytes: number;
  readonly files: number;
  /** Whether the walk ended early, because a limit was passed or folders are nested too deep. */
  readonly isOver: boolean;
}

/** `pids` are the processes that may have files open which they removed. */
export async function diskUsage(
  folders: readonly string[],
  { diskBytes, files }: DiskLimits,
  pids: readonly number[] = [],
): Promise<DiskUsage> {
  let usedBytes = 0;
  let count = 0;
  for await (const entry of walkFolders(folders)) {
    usedBytes += entry.bytes;
    count++;
    if (entry.isOutOfReach || usedBytes > diskBytes || count > files)
      return { bytes: usedBytes, files: count, isOver: true };
  }
  usedBytes += await deletedBytes(pids);
  return { bytes: usedBytes, files: count, isOver: usedBytes > diskBytes };
}

/**
 * If there is more than the limits allow, removes what changed last until a tenth of them is free: the next process needs
 * room, if only to clean up. No process may run in the container. The time of
 * change is the kernel's; programs cannot set it.
 */
export async function trimToLimits(folders: readonly string[], limits: DiskLimits): Promise<number> {
  const entries: WalkedEntry[] = [];
  let bytes = 0;
  for await (const entry of walkFolders(folders)) {
    if (entry.isOutOfReach) {
      // Where it stays, it is too much for the next process too, which is told so.
      await removeWalked(entry).catch(() => {});
      continue;
    }
    bytes += entry.bytes;
    entries.push(entry);
  }
  let files = entries.length;
  let removed = 0;
  if (bytes <= limits.diskBytes && files <= limits.files) return removed;
  entries.sort((a, b) => b.changedAtMs - a.changedAtMs);
  for (const entry of entries) {
    if (bytes <= limits.diskBytes * 0.9 && files <= limits.files * 0.9) break;
    // A folder that is not empty stays: its files are in the list themselves.
    const isGone = await removeWalked(entry).then(
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
