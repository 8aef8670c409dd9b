// Watches the disk while processes run. The kernel has no quota for a folder that an ordinary user could set, so a
// container may write for a moment beyond its limit: docs/sandbox.md has how much that was.

import { statfsSync } from "node:fs";
import { type DiskLimits, diskUsage } from "./disk-usage.ts";

interface Watched {
  /** They may move. */
  readonly folders: () => readonly string[];
  readonly limits: DiskLimits;
  readonly pids: () => readonly number[];
  readonly onOver: () => void;
  walkedAtMs: number;
  walkMs: number;
  freeBytes: number;
  freeFiles: number;
  isWalking: boolean;
}

const tickMs = 20;
/** What must have gone from the whole file system before the files of a container are counted again. */
const noticedBytes = 2 * 1024 * 1024;
const noticedFiles = 64;
/** Others may free what a container takes, so it is counted from time to time anyway. */
const restMs = 1000;
/** Counting takes at most this part of the time. */
const maxShare = 0.25;

/** One for all containers of a tier: asking a file system how much is free costs microseconds. */
export class DiskWatch {
  readonly #folder: string;
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Calls `onOver` when the folders, and what their processes have open, pass the limits. `isCountedFirst`: they are
   * counted now, because something was written unseen before. Returns how to stop, which says whether something was.
   */
  add({
    isCountedFirst,
    ...what
  }: Pick<Watched, "folders" | "limits" | "pids" | "onOver"> & {
    readonly isCountedFirst: boolean;
  }): () => boolean {
    const { bytes, files } = this.#free();
    const watched: Watched = {
      ...what,
      walkedAtMs: performance.now(),
      walkMs: 0,
      freeBytes: bytes,
      freeFiles: files,
      isWalking: false,
    };
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => this.#tick(), tickMs).unref();
    if (isCountedFirst) void this.#walk(watched, bytes, files);
    return () => {
      this.#watched.delete(watched);
      if (this.#watched.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
      return watched.isWalking || isNoticed(watched, this.#free());
    };
  }

  #free(): { bytes: number; files: number } {
    const { bavail, bsize, ffree } = statfsSync(this.#folder);
    return { bytes: bavail * bsize, files: ffree };
  }

  #tick(): void {
    const { bytes, files } = this.#free();
    const nowMs = performance.now();
    for (const watched of this.#watched) {
      // What was freed by others must not hide what is taken next.
      watched.freeBytes = Math.max(watched.freeBytes, bytes);
      watched.freeFiles = Math.max(watched.freeFiles, files);
      const sinceMs = nowMs - watched.walkedAtMs;
      const mayWalk = !watched.isWalking && sinceMs > watched.walkMs / maxShare;
      if (mayWalk && (isNoticed(watched, { bytes, files }) || sinceMs > restMs))
        void this.#walk(watched, bytes, files);
    }
  }

  async #walk(watched: Watched, freeBytes: number, freeFiles: number): Promise<void> {
    const startMs = performance.now();
    watched.isWalking = true;
    const usage = await diskUsage(watched.folders(), watched.limits, watched.pids());
    const endMs = performance.now();
    Object.assign(watched, {
      isWalking: false,
      walkedAtMs: endMs,
      walkMs: endMs - startMs,
      freeBytes,
      freeFiles,
    });
    if (usage.isOver && this.#watched.has(watched)) watched.onOver();
  }
}

function isNoticed(watched: Watched, free: { readonly bytes: number; readonly files: number }): boolean {
  return watched.freeBytes - free.bytes > noticedBytes || watched.freeFiles - free.files > noticedFiles;
}
