// Removes a folder whose content was made by code of a model: any depth, any modes.

import { execFile } from "node:child_process";
import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const env = { PATH: "/usr/bin:/bin" };

/** No process may work in it. The programs of the system go down by descriptors, which no depth stops. */
export async function removeTree(folder: string): Promise<void> {
  if (await removeSmall(folder)) return;
  try {
    await run("rm", ["-rf", "--", folder], { env });
  } catch {
    await run("chmod", ["-R", "u+rwX", "--", folder], { env }).catch(() => {});
    await run("rm", ["-rf", "--", folder], { env });
  }
}

/** Most containers end with little in them: that needs no other process. */
async function removeSmall(folder: string): Promise<boolean> {
  try {
    for (const name of ["data", "tmp"]) await rmdir(join(folder, name));
    await rm(folder, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}
