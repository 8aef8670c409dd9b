// Checks SQLite's write-ahead log. SQLite reads it up to the first broken frame and silently ignores the rest: what was
// committed after that is lost.
//
// Only the end may be broken, by an unfinished transaction. So if a commit frame follows a broken one, data is lost.
// Frames of an earlier use of the log have other salts.
// The format: https://www.sqlite.org/fileformat2.html#walformat

import { closeSync, openSync, readSync, statSync } from "node:fs";

export type WalState =
  /** Missing, empty, or all commits can be read. `isPartial`: only the first part was checked. */
  | { readonly state: "whole"; readonly commits: number; readonly isPartial: boolean }
  /** `commits` can be read; at least `lost` follow the damage, undefined if their number is unknown. */
  | {
      readonly state: "broken";
      readonly commits: number;
      readonly lost: number | undefined;
      readonly reason: string;
    };

const headerBytes = 32;
const frameHeaderBytes = 24;
/** Reading more at a start would take too long. Usually a checkpoint empties the log at 16 MB. */
const maxBytes = 512_000_000;
const chunkFrames = 64;

/** Reads the log of the database at `path`. Changes nothing. */
export function inspectWal(path: string, limitBytes = maxBytes): WalState {
  let file: number;
  try {
    file = openSync(`${path}-wal`, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT")
      return { state: "whole", commits: 0, isPartial: false };
    throw error;
  }
  try {
    const found = inspect(file, limitBytes);
    // SQLite silently deletes the log of an empty database.
    const isOrphan = found.state === "whole" && found.commits > 0 && statSync(path).size === 0;
    if (!isOrphan) return found;
    return { state: "broken", commits: 0, lost: found.commits, reason: "the database beside it is empty" };
  } finally {
    closeSync(file);
  }
}

function inspect(file: number, limitBytes: number): WalState {
  const header = Buffer.alloc(headerBytes);
  const length = readAll(file, header, 0);
  // The log begins with its header: without one, nothing was ever committed to it.
  if (length < headerBytes || isZero(file, limitBytes))
    return { state: "whole", commits: 0, isPartial: false };
  const magic = header.readUInt32BE(0);
  const isBigEndian = magic === 0x377f0683;
  const pageBytes = header.readUInt32BE(8);
  const isKnown = (isBigEndian || magic === 0x377f0682) && isPageSize(pageBytes);
  const sum = new Checksum(isBigEndian);
  sum.add(header, 0, 24);
  if (!isKnown || !sum.is(header, 24))
    return { state: "broken", commits: 0, lost: undefined, reason: "its header is damaged" };

  const frameBytes = frameHeaderBytes + pageBytes;
  const chunk = Buffer.alloc(frameBytes * chunkFrames);
  let commits = 0;
  let lost = 0;
  let brokenAt: number | undefined;
  for (let index = 0, place = headerBytes; ; ) {
    const read = readAll(file, chunk, place);
    // A partial frame at the end was never committed.
    for (let at = 0; at + frameBytes <= read; at += frameBytes, index += 1) {
      const hasSalts = chunk.compare(header, 16, 24, at + 8, at + 16) === 0;
      const isCommit = chunk.readUInt32BE(at + 4) !== 0;
      if (brokenAt === undefined) {
        sum.add(chunk, at, 8);
        sum.add(chunk, at + frameHeaderBytes, pageBytes);
        if (!hasSalts || !sum.is(chunk, at + 16)) brokenAt = index;
      }
      if (brokenAt === undefined) commits += Number(isCommit);
      else if (index > brokenAt && hasSalts && isCommit) lost += 1;
    }
    place += read;
    if (read < chunk.length || place > limitBytes) {
      const isPartial = place > limitBytes && read === chunk.length;
      if (lost === 0 || brokenAt === undefined) return { state: "whole", commits, isPartial };
      return { state: "broken", commits, lost, reason: `frame ${brokenAt + 1} is damaged` };
    }
  }
}

/** SQLite's checksum of the log, which continues from frame to frame. */
class Checksum {
  readonly #isBigEndian: boolean;
  #first = 0;
  #second = 0;

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian;
  }

  /** `length` is a multiple of 8. */
  add(bytes: Buffer, start: number, length: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + start, length);
    const isLittleEndian = !this.#isBigEndian;
    let first = this.#first;
    let second = this.#second;
    for (let at = 0; at < length; at += 8) {
      first = (first + view.getUint32(at, isLittleEndian) + second) | 0;
      second = (second + view.getUint32(at + 4, isLittleEndian) + first) | 0;
    }
    this.#first = first;
    this.#second = second;
  }

  /** Whether it equals the one at `place`. */
  is(bytes: Buffer, place: number): boolean {
    return bytes.readInt32BE(place) === this.#first && bytes.readInt32BE(place + 4) === this.#second;
  }
}

/** Whether there are only zeros: disk space that was never written to. */
function isZero(file: number, limitBytes: number): boolean {
  const chunk = Buffer.alloc(65_536);
  for (let place = 0; place < limitBytes; place += chunk.length) {
    const read = readAll(file, chunk, place);
    if (chunk.subarray(0, read).some((byte) => byte !== 0)) return false;
    if (read < chunk.length) return true;
  }
  return true;
}

function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;
}

/** Fills the buffer from `place` on. Returns how much was read. */
function readAll(file: number, buffer: Buffer, place: number): number {
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(file, buffer, length, buffer.length - length, place + length);
    if (read === 0) break;
    length += read;
  }
  return length;
}
