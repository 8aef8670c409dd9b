// Files of a folder in which code of a model may rename and link things at any moment. Each name is opened below the
// folder that was opened before it, and links are never followed, so that no path can lead out of it.

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rename, rmdir, unlink } from "node:fs/promises";
import { namesInContainer } from "../container-path.ts";
import type { ContainerFile } from "../sandbox.ts";
import { InvalidPathError, MissingFileError } from "../sandbox-errors.ts";

const openFolder = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Not blocking, because opening a pipe would wait for a writer. */
const openFile = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const createFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

const chunkBytes = 64 * 1024;
const maxListDepth = 60;

export class ContainerFolder {
  /** The folder may move. */
  readonly #folder: () => string;
  /** Who owns new files, where this process is root. */
  readonly #owner: number | undefined;

  constructor(folder: () => string, owner: number | undefined) {
    this.#folder = folder;
    this.#owner = owner;
  }

  async *read(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    signal?.throwIfAborted();
    const { parent, name } = await this.#parentOf(path, false);
    let file: FileHandle;
    try {
      file = await open(below(parent, name), openFile);
    } catch (error) {
      throw pathError(path, error);
    } finally {
      await parent.close();
    }
    try {
      if (!(await file.stat()).isFile()) throw new InvalidPathError(path, "is not a regular file");
      for (;;) {
        signal?.throwIfAborted();
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }

  /** Writes beside the file and renames: `check` is called before each chunk and may throw, then nothing changed. */
  async write(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    check: (bytes: number) => void,
    signal?: AbortSignal,
  ): Promise<ContainerFile> {
    signal?.throwIfAborted();
    const { parent, name, names } = await this.#parentOf(path, true);
    const partial = below(parent, `.rondo-${randomBytes(8).toString("hex")}`);
    try {
      const old = await lstat(below(parent, name)).catch(() => undefined);
      if (old?.isDirectory()) throw new InvalidPathError(path, "is a folder");
      const file = await open(partial, createFile, 0o644);
      try {
        for await (const chunk of content instanceof Uint8Array ? [content] : content) {
          signal?.throwIfAborted();
          check(chunk.length);
          await writeAll(file, chunk);
        }
        await this.#giveAway(file);
        const { size, mtimeMs } = await file.stat();
        await rename(partial, below(parent, name));
        return { path: names.join("/"), bytes: size, modifiedAtMs: mtimeMs };
      } catch (error) {
        await unlink(partial).catch(() => {});
        throw error;
      } finally {
        await file.close();
      }
    } finally {
      await parent.close();
    }
  }

  /** Regular files only, at most `maxFiles`. */
  async list(maxFiles: number, signal?: AbortSignal): Promise<ContainerFile[]> {
    const files: ContainerFile[] = [];
    await this.#listBelow(await open(this.#folder(), openFolder), "", files, maxFiles, maxListDepth, signal);
    return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  async remove(path: string): Promise<boolean> {
    const found = await this.#parentOf(path, false).catch((error: unknown) => {
      if (error instanceof MissingFileError) return undefined;
      throw error;
    });
    if (found === undefined) return false;
    const { parent, name } = found;
    try {
      const stat = await lstat(below(parent, name)).catch(() => undefined);
      if (stat === undefined) return false;
      await removeBelow(parent, name, maxListDepth);
      return true;
    } finally {
      await parent.close();
    }
  }

  async #listBelow(
    folder: FileHandle,
    prefix: string,
    files: ContainerFile[],
    maxFiles: number,
    depth: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    try {
      for (const entry of await readdir(contentOf(folder), { withFileTypes: true })) {
        signal?.throwIfAborted();
        if (files.length >= maxFiles) return;
        const path = `${prefix}${entry.name}`;
        if (entry.isDirectory() && depth > 0) {
          const inner = await open(below(folder, entry.name), openFolder).catch(() => undefined);
          if (inner !== undefined)
            await this.#listBelow(inner, `${path}/`, files, maxFiles, depth - 1, signal);
        } else if (entry.isFile()) {
          const stat = await lstat(below(folder, entry.name)).catch(() => undefined);
          if (stat?.isFile()) files.push({ path, bytes: stat.size, modifiedAtMs: stat.mtimeMs });
        }
      }
    } finally {
      await folder.close();
    }
  }

  /** Opens the folder of a path. The caller closes it. */
  async #parentOf(
    path: string,
    makesFolders: boolean,
  ): Promise<{ parent: FileHandle; name: string; names: readonly string[] }> {
    const names = namesInContainer(path);
    let parent = await open(this.#folder(), openFolder);
    for (const name of names.slice(0, -1)) {
      const outer = parent;
      try {
        if (makesFolders) await mkdir(below(outer, name), 0o755).then(undefined, ignoreExisting);
        parent = await open(below(outer, name), openFolder);
        if (makesFolders) await this.#giveAway(parent);
      } catch (error) {
        throw pathError(path, error);
      } finally {
        await outer.close();
      }
    }
    return { parent, name: names.at(-1) as string, names };
  }

  async #giveAway(file: FileHandle): Promise<void> {
    if (this.#owner !== undefined) await file.chown(this.#owner, this.#owner);
  }
}

/** A name in an open folder: the kernel goes through the descriptor, not through the path that it once had. */
function below(folder: FileHandle, name: string): string {
  return `${contentOf(folder)}/${name}`;
}

function contentOf(folder: FileHandle): string {
  return `/proc/self/fd/${folder.fd}`;
}

async function removeBelow(parent: FileHandle, name: string, depth: number): Promise<void> {
  try {
    await unlink(below(parent, name));
    return;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    if (codeOf(error) !== "EISDIR" && codeOf(error) !== "EPERM") throw error;
  }
  const folder = await open(below(parent, name), openFolder);
  try {
    if (depth > 0)
      for (const inner of await readdir(contentOf(folder))) await removeBelow(folder, inner, depth - 1);
  } finally {
    await folder.close();
  }
  await rmdir(below(parent, name));
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let rest = chunk; rest.length > 0; ) {
    const { bytesWritten } = await file.write(rest);
    rest = rest.subarray(bytesWritten);
  }
}

function pathError(path: string, error: unknown): unknown {
  switch (codeOf(error)) {
    case "ENOENT":
      return new MissingFileError(path);
    case "ELOOP":
      return new InvalidPathError(path, "goes through a link");
    case "ENOTDIR":
      return new InvalidPathError(path, "goes through a link or a file");
    case "ENXIO":
      return new InvalidPathError(path, "is not a regular file");
    default:
      return error;
  }
}

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== "EEXIST") throw error;
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}
