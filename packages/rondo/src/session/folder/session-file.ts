// The file of a session: one JSON object a line, appended to and never rewritten. A crash in mid-write leaves at most
// a torn last line, which is dropped.

import { constants, type Stats } from "node:fs";
import { access, open, readFile, stat, truncate } from "node:fs/promises";
import { basename } from "node:path";
import { warn } from "../../error/logger.ts";
import { readSession, type Session } from "../session.ts";
import { InvalidSessionError, SessionLimitError, UnknownSessionError } from "../session-errors.ts";
import { type SessionEntry, sessionExists } from "../store.ts";

const newline = 0x0a;
export const defaultMaxBytes = 64 * 2 ** 20;

/** The entries of the file; undefined if there is none, or its first line is torn. */
export async function readEntries(
  file: string,
  id: string,
  maxBytes: number,
): Promise<SessionEntry[] | undefined> {
  const { size } = (await statIfAny(file)) ?? { size: 0 };
  if (size === 0) return undefined;
  if (size > maxBytes) throw new SessionLimitError(id, maxBytes);
  const bytes = await readFile(file);
  const entries = parseLines(bytes, (line) => {
    throw new InvalidSessionError(id, `line ${line} of ${file} is not JSON.`);
  });
  const torn = bytes.length - endOfEntries(bytes);
  if (torn > 0)
    warn(
      `The session '${id}' ends in the middle of an entry, and its last ${torn} bytes are left out: a crash cut them off, or they are being written.`,
    );
  return entries.length === 0 ? undefined : entries;
}

/** A session in any file of JSON lines. Throws an `InvalidSessionError` if it is not one. */
export async function readSessionFile(file: string): Promise<Session> {
  const name = basename(file);
  await access(file); // a missing file is an error of the file system
  return readSession(name, (await readEntries(file, name, defaultMaxBytes)) ?? []);
}

/** The entries at the beginning of a file, as far as they fit into `length` bytes. */
export async function readFirstEntries(file: string, length: number): Promise<SessionEntry[]> {
  await using handle = await open(file, "r");
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
  return parseLines(buffer.subarray(0, bytesRead), () => {});
}

/** Adds lines. All or nothing: what a failed write left behind is removed. */
export async function appendEntries(
  file: string,
  id: string,
  entries: readonly SessionEntry[],
  maxBytes: number,
): Promise<void> {
  const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
  const isNew = entries[0]?.type === "session";
  const flags = constants.O_APPEND | constants.O_WRONLY | (isNew ? constants.O_CREAT | constants.O_EXCL : 0);
  const handle = await open(file, flags, 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") throw sessionExists(id);
    throw error.code === "ENOENT" && !isNew ? new UnknownSessionError(id) : error;
  });
  try {
    const { size } = await handle.stat();
    if (size + Buffer.byteLength(text) > maxBytes) throw new SessionLimitError(id, maxBytes);
    try {
      await handle.appendFile(text);
    } catch (error) {
      await truncate(file, size);
      throw error;
    }
  } finally {
    await handle.close();
  }
}

/** Removes a torn last line, so that the next entry begins a line of its own. Only for the owner of the lock. */
export async function repair(file: string, id: string): Promise<void> {
  const { size } = (await statIfAny(file)) ?? { size: 0 };
  if (size === 0 || (await lastByte(file, size)) === newline) return;
  const bytes = await readFile(file);
  const end = endOfEntries(bytes);
  if (end === bytes.length) {
    // Only the line break is missing.
    await using handle = await open(file, "a");
    await handle.appendFile("\n");
    return;
  }
  warn(
    `The session '${id}' was cut off by a crash in the middle of an entry. Its last ${bytes.length - end} bytes are dropped; everything before them is kept.`,
  );
  await truncate(file, end);
}

async function lastByte(file: string, size: number): Promise<number | undefined> {
  await using handle = await open(file, "r");
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0];
}

/** Where the last complete entry ends, without the torn line behind it. A prefix of a JSON object is never JSON. */
function endOfEntries(bytes: Buffer): number {
  const lineStart = bytes.lastIndexOf(newline) + 1;
  if (lineStart === bytes.length) return lineStart;
  return isJson(bytes.toString("utf8", lineStart)) ? bytes.length : lineStart;
}

function parseLines(bytes: Buffer, onBadLine: (line: number) => void): SessionEntry[] {
  const entries: SessionEntry[] = [];
  const lines = bytes.toString("utf8", 0, endOfEntries(bytes)).split("\n");
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    try {
      entries.push(JSON.parse(line) as SessionEntry);
    } catch {
      onBadLine(index + 1);
    }
  }
  return entries;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function statIfAny(file: string): Promise<Stats | undefined> {
  return stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}
