// A folder for the files of one test.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TempFolder extends Disposable {
  readonly path: string;
}

/** Makes a folder that goes away with `using`. */
export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), "rondo-store-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
