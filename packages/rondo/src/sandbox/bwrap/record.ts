// What is stored beside the files of a container, so that nothing else has to be kept in step with them.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkPlainObject, isPlainObject, requireValue } from "../../error/check.ts";
import type { ContainerRecord } from "../sandbox.ts";

export interface StoredRecord {
  readonly version: 1;
  readonly createdAtMs: number;
  readonly record: ContainerRecord;
}

const fileName = "container.json";
const maxRecordBytes = 16 * 1024;

/** A copy of the record as it will be read again. */
export function checkRecord(record: unknown): ContainerRecord {
  const json = JSON.stringify(checkPlainObject("record", record));
  requireValue(
    Buffer.byteLength(json) <= maxRecordBytes,
    "record",
    `at most ${maxRecordBytes.toLocaleString("en-US")} bytes of JSON`,
    `${Buffer.byteLength(json).toLocaleString("en-US")} bytes`,
  );
  return JSON.parse(json) as ContainerRecord;
}

export function writeRecord(folder: string, stored: StoredRecord): void {
  const partial = join(folder, `${fileName}.new`);
  writeFileSync(partial, JSON.stringify(stored), { mode: 0o600 });
  renameSync(partial, join(folder, fileName));
}

/** Undefined for a folder that is not a container, or is only being made. */
export function readRecord(folder: string): StoredRecord | undefined {
  try {
    const stored: unknown = JSON.parse(readFileSync(join(folder, fileName), "utf8"));
    if (!isPlainObject(stored) || stored["version"] !== 1 || !isPlainObject(stored["record"]))
      return undefined;
    return stored as unknown as StoredRecord;
  } catch {
    return undefined;
  }
}
