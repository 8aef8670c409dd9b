// Sessions in a folder: a file of JSON lines for each, and a lock beside it while a client writes.

import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { checkLimit, checkOptions, checkString } from "../../error/check.ts";
import { summarize } from "../session.ts";
import { SessionLockedError } from "../session-errors.ts";
import { checkSessionId, isSessionId, type SessionStore } from "../store.ts";
import { claim } from "./claim.ts";
import { appendEntries, defaultMaxBytes, readEntries, readFirstEntries, repair } from "./session-file.ts";

export interface FolderSessionsOptions {
  /** The longest file of a session. Default: 64 MiB. */
  maxBytes?: number;
}

const ending = ".jsonl";
const defaultListLimit = 100;
/** How much of a file a list reads: the start of the session and its first prompt. */
const summaryBytes = 16 * 2 ** 10;

/** The folder that is used by default: `$XDG_STATE_HOME/rondo/sessions`, else `~/.local/state/rondo/sessions`. */
export function defaultSessionFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const state = env["XDG_STATE_HOME"];
  // The XDG standard says to ignore relative paths.
  const base = state && isAbsolute(state) ? state : join(env["HOME"] || homedir(), ".local", "state");
  return join(base, "rondo", "sessions");
}

/**
 * A store of sessions in a folder, by default that of `rondo chat`. Files are readable only by you. Sessions survive
 * the death of their process at any moment; the lock of a dead process does not count. For processes of one machine.
 */
export function folderSessions(
  folder: string = defaultSessionFolder(),
  options: FolderSessionsOptions = {},
): Required<SessionStore> {
  const root = resolve(checkString("folder", folder));
  checkOptions("options", options, ["maxBytes"]);
  const maxBytes =
    options.maxBytes === undefined ? defaultMaxBytes : checkLimit("maxBytes", options.maxBytes);
  const fileOf = (id: string) => join(root, `${checkSessionId("id", id)}${ending}`);

  const lock = async (id: string): Promise<AsyncDisposable> => {
    const file = fileOf(id);
    const claimFolder = join(root, `${id}.lock`);
    const claimed = await claim(claimFolder);
    if ("pid" in claimed)
      throw new SessionLockedError(
        id,
        `process ${claimed.pid} on ${claimed.host}`,
        ` If that machine is gone, delete ${claimFolder}.`,
      );
    try {
      await repair(file, id);
    } catch (error) {
      await claimed[Symbol.asyncDispose]();
      throw error;
    }
    return claimed;
  };

  return {
    lock,
    read: async (id) => readEntries(fileOf(id), id, maxBytes),
    async append(id, entries) {
      const file = fileOf(id);
      if (entries[0]?.type === "session") await mkdir(root, { recursive: true, mode: 0o700 });
      await appendEntries(file, id, entries, maxBytes);
    },
    async list({ limit = defaultListLimit } = {}) {
      const names = await readdir(root).catch(() => []);
      const ids = names
        .filter((name) => name.endsWith(ending))
        .map((name) => name.slice(0, -ending.length))
        .filter(isSessionId);
      const changed = await Promise.all(
        ids.map(async (id) => ({ id, stats: await stat(fileOf(id)).catch(() => undefined) })),
      );
      const newest = changed
        .flatMap(({ id, stats }) => (stats?.isFile() ? [{ id, updatedAt: stats.mtime }] : []))
        .toSorted((one, other) => other.updatedAt.getTime() - one.updatedAt.getTime())
        .slice(0, limit);
      const summaries = await Promise.all(
        newest.map(async ({ id, updatedAt }) => {
          const entries = await readFirstEntries(fileOf(id), summaryBytes).catch(() => []);
          const summary = summarize(entries, updatedAt);
          return summary ? [{ id, ...summary }] : [];
        }),
      );
      return summaries.flat();
    },
    async delete(id) {
      const file = fileOf(id);
      await using _ = await lock(id);
      return await rm(file).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === "ENOENT") return false;
          throw error;
        },
      );
    },
  };
}
