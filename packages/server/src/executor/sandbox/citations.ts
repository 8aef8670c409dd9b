// Which files of a container an answer names: `sandbox:/mnt/data/plot.png`, `/mnt/data/plot.png` or `plot.png`.

import type { ContainerFileCitation } from "../../protocol/items.ts";
import { fileId } from "./container-files.ts";

const maxCitations = 100;

/**
 * A path in the data folder up to the end of its link, quotation or word; or a word that looks like a file. Each
 * alternative begins with what the others do not, and ends at the first character outside of its class: linear.
 */
const mentions =
  /\((?:sandbox:)?\/mnt\/data\/([^()\n]{1,500})\)|(?:sandbox:)?\/mnt\/data\/([^\s()[\]<>"'`|*]{1,500})|(?<![\w./-])([\w-][\w./-]{0,250}\.\w{1,10})(?![\w/-])/g;

/** The citations of an answer, in its order; each file once. `paths`: those of the container's files. */
export function citationsIn(
  text: string,
  containerId: string,
  paths: readonly string[],
): ContainerFileCitation[] {
  if (paths.length === 0) return [];
  const byName = new Map<string, string>();
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (!byName.has(name)) byName.set(name, path);
  }
  const all = new Set(paths);
  const cited = new Map<string, ContainerFileCitation>();
  for (const match of text.matchAll(mentions)) {
    const inLink = match[1];
    const full = inLink ?? match[2];
    const path = full === undefined ? pathOf(match[3] ?? "", all, byName) : existing(full, all);
    if (path === undefined || cited.has(path)) continue;
    const start = match.index + (inLink === undefined ? 0 : 1);
    const length = match[0].length - (inLink === undefined ? 0 : 2);
    // A full stop after a bare path is not part of it.
    const surplus = full === undefined || inLink !== undefined ? 0 : full.length - path.length;
    cited.set(path, {
      type: "container_file_citation",
      container_id: containerId,
      file_id: fileId(containerId, path),
      filename: path.slice(path.lastIndexOf("/") + 1),
      start_index: characters(text, start),
      end_index: characters(text, start + length - Math.max(0, surplus)),
    });
    if (cited.size === maxCitations) break;
  }
  return [...cited.values()];
}

function existing(path: string, all: ReadonlySet<string>): string | undefined {
  const plain = decoded(path);
  return [path, plain, path.replace(/[.,:;!?]+$/, "")].find((it) => all.has(it));
}

function pathOf(
  word: string,
  all: ReadonlySet<string>,
  byName: ReadonlyMap<string, string>,
): string | undefined {
  return all.has(word) ? word : byName.get(word);
}

/** Links in Markdown may be percent-encoded. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The API counts characters, not UTF-16 units. */
function characters(text: string, units: number): number {
  let count = 0;
  for (let at = 0; at < units; count += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}
