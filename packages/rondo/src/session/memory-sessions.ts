// Sessions in memory, for tests and for programs that keep them only while they run.

import { summarize } from "./session.ts";
import { SessionLockedError, UnknownSessionError } from "./session-errors.ts";
import { checkSessionId, type SessionEntry, type SessionStore, sessionExists } from "./store.ts";

/** A store that forgets its sessions when the process ends. */
export function memorySessions(): Required<SessionStore> {
  // As JSON: what a store was given does not change later.
  const sessions = new Map<string, { readonly lines: string[]; updatedAt: Date }>();
  const locked = new Set<string>();
  const parse = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as SessionEntry);
  return {
    async read(id) {
      const session = sessions.get(checkSessionId("id", id));
      return session && parse(session.lines);
    },
    async append(id, entries) {
      checkSessionId("id", id);
      const lines = entries.map((entry) => JSON.stringify(entry));
      const session = sessions.get(id);
      if (entries[0]?.type !== "session") {
        if (!session) throw new UnknownSessionError(id);
        session.lines.push(...lines);
        session.updatedAt = new Date();
      } else if (session) throw sessionExists(id);
      else sessions.set(id, { lines, updatedAt: new Date() });
    },
    async list({ limit = Number.POSITIVE_INFINITY } = {}) {
      return [...sessions]
        .toSorted(([, one], [, other]) => other.updatedAt.getTime() - one.updatedAt.getTime())
        .slice(0, limit)
        .flatMap(([id, { lines, updatedAt }]) => {
          const summary = summarize(parse(lines), updatedAt);
          return summary ? [{ id, ...summary }] : [];
        });
    },
    async delete(id) {
      if (locked.has(checkSessionId("id", id))) throw new SessionLockedError(id, "a client of this process");
      return sessions.delete(id);
    },
    async lock(id) {
      if (locked.has(checkSessionId("id", id))) throw new SessionLockedError(id, "a client of this process");
      locked.add(id);
      return { [Symbol.asyncDispose]: async () => void locked.delete(id) };
    },
  };
}
