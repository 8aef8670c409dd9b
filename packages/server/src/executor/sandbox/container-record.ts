// What the server stores with a container: whose it is, when it expires, and what the model was told of it. It lives
// with the tier, beside the container's files, so that both survive a restart together.

import type { ContainerRecord } from "rondo/sandbox";

export interface ServerRecord {
  readonly version: 1;
  /** Its id on the wire, if the tier has it under another one. */
  readonly id?: string;
  readonly owner: string;
  readonly name: string;
  /** Whether a request made it by itself, so that it may be removed where its owner has too many. */
  readonly isAuto: boolean;
  /** How long it may be idle. */
  readonly idleMs: number;
  /** Written now and then: at most a minute old. */
  readonly lastActiveAtMs: number;
  /** As the client asked for it; null if it did not. */
  readonly memoryLimit: string | null;
  /** The hosts that its code may reach. */
  readonly allow: readonly string[];
  /** The files that clients put there, by their paths: the newest. */
  readonly uploads: readonly string[];
  /** The files of `/v1/files` that were copied into it, by their ids: the newest. */
  readonly copies: readonly string[];
  /** Whether an interpreter ran in it, whose variables a later one does not have. */
  readonly hasRunCode: boolean;
}

/** A tier stores 16 KB. */
const maxUploadChars = 8000;
const maxCopies = 50;

/** The record with a file that a client put there. */
export function withUpload(record: ServerRecord, path: string): ServerRecord {
  const uploads = [...record.uploads.filter((it) => it !== path), path];
  let chars = 0;
  const first = uploads.findLastIndex((it) => {
    chars += Buffer.byteLength(JSON.stringify(it));
    return chars > maxUploadChars;
  });
  return { ...record, uploads: uploads.slice(first + 1) };
}

/** The record with a file of `/v1/files` that was copied there. */
export function withCopy(record: ServerRecord, id: string, path: string): ServerRecord {
  const copies = [...record.copies.filter((it) => it !== id), id].slice(-maxCopies);
  return { ...withUpload(record, path), copies };
}

export function toRecord(record: ServerRecord): ContainerRecord {
  return { ...record };
}

/** The record of a container that a server of this kind made; undefined for another one. */
export function readRecord(record: ContainerRecord): ServerRecord | undefined {
  const { version, id, owner, name, isAuto, idleMs, lastActiveAtMs, memoryLimit, allow, uploads } =
    record as Partial<ServerRecord>;
  if (version !== 1 || typeof owner !== "string" || typeof idleMs !== "number") return undefined;
  return {
    version,
    ...(typeof id === "string" && { id }),
    owner,
    name: typeof name === "string" ? name : "",
    isAuto: isAuto === true,
    idleMs,
    lastActiveAtMs: typeof lastActiveAtMs === "number" ? lastActiveAtMs : 0,
    memoryLimit: typeof memoryLimit === "string" ? memoryLimit : null,
    allow: textsIn(allow),
    uploads: textsIn(uploads),
    copies: textsIn(record["copies"]),
    hasRunCode: record["hasRunCode"] === true,
  };
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((it) => typeof it === "string") : [];
}
