// Walks through folders in which code of a model may rename and link things at any moment: by descriptors, so that no
// link is followed and no length of a path matters, and with names as bytes, because they need not be text.

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, type FileHandle, lstat, open, readdir, rename, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "./remove-tree.ts";

export interface WalkedEntry {
  readonly root: string;
  /** From the root to the folder that it is in. */
  readonly folders: readonly Buffer[];
  readonly name: Buffer;
  readonly isFolder: boolean;
  readonly bytes: number;
  readonly changedAtMs: number;
  /** A folder that is nested too deep, or that its owner keeps closed: what is in it is not walked. */
  readonly isOutOfReach: boolean;
}

interface OpenFolder {
  readonly handle: FileHandle;
  readonly names: readonly Buffer[];
  /** Folders in it that were not walked yet; undefined before it was read. */
  inner: WalkedEntry[] | undefined;
}

/** Each level takes a descriptor. */
const maxDepth = 60;
const batchSize = 64;
const openFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Only names a folder, which needs no permission to read it. Node has no constant for O_PATH. */
const nameFolder = openFolder | 0o10000000;
const isRoot = process.getuid?.() === 0;

/** All entries below the folders. Blocks are counted, not sizes: a file with holes takes up what it has. */
export async function* walkFolders(roots: readonly string[]): AsyncGenerator<WalkedEntry> {
  for (const root of roots) {
    const handle = await open(root, openFolder).catch(() => undefined);
    if (handle === undefined) continue;
    const stack: OpenFolder[] = [{ handle, names: [], inner: undefined }];
    try {
      for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
        if (top.inner === undefined) {
          top.inner = [];
          for await (const entry of entriesOf(root, top)) {
            yield entry;
            if (entry.isFolder && !entry.isOutOfReach) top.inner.push(entry);
          }
        }
        const next = top.inner.pop();
        if (next === undefined) {
          stack.pop();
          await top.handle.close();
          continue;
        }
        const inner = await openInner(top.handle, next.name);
        if (inner === "closed") yield { ...next, bytes: 0, isOutOfReach: true };
        else if (inner !== undefined)
          stack.push({ handle: inner, names: [...next.folders, next.name], inner: undefined });
      }
    } finally {
      for (const { handle: left } of stack) await left.close();
    }
  }
}

/** Removes a file or an empty folder, or a folder out of reach with its content. No process may run in the container. */
export async function removeWalked({ root, folders, name, ...entry }: WalkedEntry): Promise<void> {
  const handles = [await open(root, openFolder)];
  try {
    for (const folder of folders) handles.push(await open(below(handles.at(-1), folder), openFolder));
    const path = below(handles.at(-1), name);
    if (!entry.isFolder) await unlink(path);
    else if (!entry.isOutOfReach) await rmdir(path);
    else {
      // Where its path is short enough for other programs, and text.
      const moved = join(root, `.rondo-${randomBytes(8).toString("hex")}`);
      await rename(path, moved);
      await removeTree(moved);
    }
  } finally {
    for (const handle of handles) await handle.close();
  }
}

async function* entriesOf(root: string, { handle, names }: OpenFolder): AsyncGenerator<WalkedEntry> {
  const found = await readdir(below(handle), { encoding: "buffer" }).catch(() => []);
  for (let start = 0; start < found.length; start += batchSize) {
    const batch = found.slice(start, start + batchSize);
    const stats = await Promise.all(batch.map((name) => lstat(below(handle, name)).catch(() => undefined)));
    for (const [index, stat] of stats.entries()) {
      if (stat === undefined) continue;
      const name = batch[index] as Buffer;
      const isFolder = stat.isDirectory();
      // Code may close a folder to itself and write on in files that it has open.
      if (isFolder && !isRoot && (stat.mode & 0o700) !== 0o700) await openUp(handle, name);
      yield {
        root,
        folders: names,
        name,
        isFolder,
        bytes: stat.blocks * 512,
        changedAtMs: stat.ctimeMs,
        isOutOfReach: isFolder && names.length >= maxDepth,
      };
    }
  }
}

/** Undefined for a folder that is gone, or is none any more. */
async function openInner(folder: FileHandle, name: Buffer): Promise<FileHandle | "closed" | undefined> {
  try {
    return await open(below(folder, name), openFolder);
  } catch (error) {
    return (error as { code?: unknown }).code === "EACCES" ? "closed" : undefined;
  }
}

async function openUp(folder: FileHandle, name: Buffer): Promise<void> {
  const handle = await open(below(folder, name), nameFolder).catch(() => undefined);
  if (handle === undefined) return;
  await chmod(below(handle), 0o700).catch(() => {});
  await handle.close();
}

/** The kernel goes through the descriptor, not through the path that the folder once had. */
function below(folder: FileHandle | undefined, name?: Buffer): Buffer {
  const path = Buffer.from(`/proc/self/fd/${folder?.fd}`);
  return name === undefined ? path : Buffer.concat([path, Buffer.from("/"), name]);
}
