// A folder for the files of one test.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// In memory where the system has such a place: hundreds of small databases would keep a disk busy with flushing.
const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export interface TempFolder extends Disposable {
  readonly path: string;
}

/** Makes a folder that goes away with `using`. */
export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(parent, "rondo-store-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
