// Loads a module that a user wrote, and says in words why it cannot be loaded.

import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { describeLoadError } from "../config/load-error.ts";
import { UsageError } from "./cli-io.ts";

/** The exports of a module. Node strips the types of TypeScript by itself. `what` begins the error message. */
export async function loadModule(path: string, what: string): Promise<Readonly<Record<string, unknown>>> {
  const isFile = (await stat(path).catch(() => undefined))?.isFile() ?? false;
  if (!isFile)
    throw new UsageError(
      `There is no file ${basename(path)} in ${dirname(path)}. Check its name and folder.`,
    );
  return import(pathToFileURL(path).href).catch((error: unknown) => {
    const reason = describeLoadError(error, path);
    throw new Error(`${what} could not be loaded: ${reason}`, { cause: error });
  }) as Promise<Readonly<Record<string, unknown>>>;
}
