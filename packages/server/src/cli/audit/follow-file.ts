// The content of a file, and then what is appended to it, also after it was renamed or emptied.

import { type FileHandle, open, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 200;
const newline = Buffer.from("\n");

/** Ends when the signal is aborted. Throws if there is no file at the beginning. */
export async function* followFile(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  let file = await open(path, "r");
  try {
    let position = 0;
    while (true) {
      const piece = await pieceAt(file, position);
      if (piece.length > 0) {
        position += piece.length;
        yield piece;
        continue;
      }
      const next = await nextFile(path, file);
      if (next) {
        yield newline; // the old file may end in the middle of a line
        await file.close();
        file = next;
        position = 0;
        continue;
      }
      if ((await file.stat()).size < position) position = 0;
      if (signal.aborted) return;
      await sleep(pollMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    await file.close();
  }
}

async function pieceAt(file: FileHandle, position: number): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(65_536), 0, 65_536, position);
  return buffer.subarray(0, bytesRead);
}

/** The file that took the place of this one, if there is one. */
async function nextFile(path: string, file: FileHandle): Promise<FileHandle | undefined> {
  const [there, own] = await Promise.all([stat(path).catch(() => undefined), file.stat()]);
  if (!there || (there.ino === own.ino && there.dev === own.dev)) return undefined;
  return open(path, "r").catch(() => undefined);
}
