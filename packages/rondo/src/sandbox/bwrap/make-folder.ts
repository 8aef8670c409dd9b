// Makes the folder of a container.

import { randomBytes, randomInt } from "node:crypto";
import { chownSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { ContainerRecord } from "../sandbox.ts";
import { writeRecord } from "./record.ts";

/** Containers run as users from here on, where this process is root: nobody else has these ids. */
const firstUser = 1_900_000_000;
const userCount = 100_000_000;

/** Made beside and renamed, so that a container is there as a whole or not at all. */
export function makeContainerFolder(folder: string, temporary: string, record: ContainerRecord): void {
  const partial = join(temporary, `new-${randomBytes(8).toString("hex")}`);
  mkdirSync(partial, { mode: 0o700 });
  for (const name of ["data", "tmp"]) mkdirSync(join(partial, name), { mode: 0o700 });
  writeRecord(partial, { version: 1, createdAtMs: Date.now(), record });
  if (process.getuid?.() === 0) {
    const user = firstUser + randomInt(userCount);
    for (const name of ["data", "tmp", ""]) chownSync(join(partial, name), user, user);
  }
  renameSync(partial, folder);
}
