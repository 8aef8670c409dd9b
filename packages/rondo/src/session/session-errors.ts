// The errors of stored sessions.

import { brandErrors, RondoError } from "../error/rondo-error.ts";

/** The store has no session of that id. */
export class UnknownSessionError extends RondoError {
  readonly code = "unknown_session";
  readonly id: string;

  constructor(id: string) {
    super(
      `There is no session '${id}' in this store. list() of the store gives those that exist; session: "new" begins one.`,
    );
    this.id = id;
  }
}

/** Another client writes to the session. */
export class SessionLockedError extends RondoError {
  readonly code = "session_locked";
  readonly id: string;

  /** `owner` says who holds the lock, and `remedy` what to do if that is wrong. */
  constructor(id: string, owner: string, remedy = "") {
    super(
      `The session '${id}' is in use by ${owner}. Close that client first, or continue in a copy with fork: true.${remedy}`,
    );
    this.id = id;
  }
}

/** What is stored is not a session, or one of a newer version. */
export class InvalidSessionError extends RondoError {
  readonly code = "invalid_session";
  readonly id: string;

  constructor(id: string, problem: string, options?: ErrorOptions) {
    super(`The session '${id}' cannot be read: ${problem}`, options);
    this.id = id;
  }
}

/** The session is as long as its store allows. */
export class SessionLimitError extends RondoError {
  readonly code = "session_limit";
  readonly id: string;
  readonly maxBytes: number;

  constructor(id: string, maxBytes: number) {
    super(
      `The session '${id}' has reached the limit of its store, ${maxBytes.toLocaleString("en-US")} bytes. Continue in a copy with fork: true and a shorter messageHistory, or raise maxBytes of the store.`,
    );
    this.id = id;
    this.maxBytes = maxBytes;
  }
}

brandErrors({ UnknownSessionError, SessionLockedError, InvalidSessionError, SessionLimitError });
