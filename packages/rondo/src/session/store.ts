// Where sessions are kept: a log of entries for each, to which one client at a time appends.

import { InvalidArgumentError } from "../error/argument-errors.ts";
import { checkString, requireValue } from "../error/check.ts";
import type { JsonObject } from "../json/json-value.ts";
import type { Message } from "../model/message.ts";

/** The first entry of a session. */
export interface SessionStart {
  readonly type: "session";
  /** The version of the format. Readers refuse newer ones. */
  readonly version: 1;
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** The session that it began as a copy of. */
  readonly forkedFrom?: string;
}

/** One entry of a session: plain JSON. Their order is the session. */
export type SessionEntry =
  | SessionStart
  /** The conversation grew by a message. */
  | { readonly type: "message"; readonly message: Message }
  /** The conversation was changed: it keeps its first `to` messages, followed by these. */
  | { readonly type: "rewind"; readonly to: number; readonly messages: readonly Message[] }
  /** Data of the application, merged into what came before. */
  | { readonly type: "info"; readonly info: JsonObject };

/** A session in a list. */
export interface SessionSummary {
  readonly id: string;
  /** ISO 8601, as `updatedAt`. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly forkedFrom?: string | undefined;
  /** The beginning of the first prompt. */
  readonly title?: string | undefined;
  /** Data of the application. */
  readonly info?: JsonObject | undefined;
}

/**
 * A store of sessions: `folderSessions()` of `rondo/sessions`, `memorySessions()`, or your own. Ids are 1 to 64
 * letters, digits, `_` or `-`.
 */
export interface SessionStore {
  /** All entries of a session, in order; undefined if there is none. */
  read(id: string): Promise<readonly SessionEntry[] | undefined>;
  /**
   * Adds entries, all or none, and resolves when they are kept. The first entry of a new session is its
   * `SessionStart`; for an existing one that must fail.
   */
  append(id: string, entries: readonly SessionEntry[]): Promise<void>;
  /** The sessions, the last changed first; `limit` is at most how many. */
  list(options?: { readonly limit?: number }): Promise<SessionSummary[]>;
  /** Removes a session. Resolves with whether there was one. */
  delete(id: string): Promise<boolean>;
  /**
   * Keeps other writers out until it is disposed; throws a `SessionLockedError` if one is in. Default: there is no
   * lock, and you make sure that a session has one writer.
   */
  lock?(id: string): Promise<AsyncDisposable>;
}

/** Throws for an id that could mean anything but a session, such as a path. */
export function checkSessionId(field: string, value: unknown): string {
  const expected = "the id of a session: 1 to 64 letters, digits, '_' or '-'";
  const id = checkString(field, value);
  requireValue(isSessionId(id), field, expected, value);
  return id;
}

/** The error for a session that is begun twice. */
export function sessionExists(id: string): InvalidArgumentError {
  return new InvalidArgumentError({ field: "id", expected: "the id of a new session", received: id });
}

export function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text);
}
