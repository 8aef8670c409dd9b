// The examples, in reading order.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

export interface Example {
  /** `01-pipeline` */
  readonly name: string;
  readonly path: string;
  /** The comment on the first line of the file. */
  readonly title: string;
  readonly source: string;
}

/** Reads the examples in a folder; their numbers give the order. */
export function readExamples(folder: string): Example[] {
  return globSync("*.ts", { cwd: folder })
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      const source = readFileSync(path, "utf8");
      const title = /^\/\/ (.+)/.exec(source)?.[1];
      if (!/^\d\d-[a-z0-9-]+\.ts$/.test(name)) throw new Error(`${path} needs a name like 01-pipeline.ts.`);
      if (!title) throw new Error(`${path} needs a title: a comment on its first line.`);
      return { name: basename(name, ".ts"), path, title, source };
    });
}
