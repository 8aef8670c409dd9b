// A folder for one test, with files in it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Folder extends Disposable {
  readonly path: string;
  write(name: string, text: string): string;
  remove(name: string): void;
}

export function folderWith(files: Readonly<Record<string, string>> = {}): Folder {
  const path = mkdtempSync(join(tmpdir(), "rondo-config-"));
  const folder: Folder = {
    path,
    write(name, text) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    remove: (name) => rmSync(join(path, name)),
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
  for (const [name, text] of Object.entries(files)) folder.write(name, text);
  return folder;
}
