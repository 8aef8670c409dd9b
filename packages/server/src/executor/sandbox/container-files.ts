// Files of containers as clients see them: with ids that follow from their paths, so that nothing has to be stored.

import { createHash } from "node:crypto";
import type { ContainerFile } from "rondo/sandbox";
import { notFound } from "../../protocol/api-error.ts";
import type { ContainerUse } from "./containers.ts";

/** Where the files of a container are. */
export const dataFolder = "/mnt/data";

export function fileId(containerId: string, path: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([containerId, path]))
    .digest("hex");
  return `cfile_${digest.slice(0, 32)}`;
}

/** The file of an id. Throws a 404 if there is none. */
export async function findFile(
  { container, known }: ContainerUse,
  id: string,
  signal?: AbortSignal,
): Promise<ContainerFile> {
  const found = (await container.list(signal)).find(({ path }) => fileId(known.id, path) === id);
  if (found) return found;
  throw notFound(
    `File with id '${id.slice(0, 100)}' not found in the container '${known.id}'.`,
    "file_not_found",
    "file_id",
  );
}
