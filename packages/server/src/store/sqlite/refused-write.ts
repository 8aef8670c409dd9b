// Writes that SQLite refuses after others of the same transaction.

import { isTaken } from "./faults.ts";

/** Undoes the transaction, for the `reason` of one write. The other writes are tried again without it. */
export class RefusedWrite extends Error {
  override readonly name = "RefusedWrite";
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("A write was refused.");
    this.reason = reason;
  }
}

/** A row is there already that must not be changed. */
export class NotChanged extends Error {
  override readonly name = "NotChanged";
}

/** Runs a write. If something is there already that has to be unique, or to stay, `explain` throws why it is refused. */
export function unlessTaken<T>(write: () => T, explain: () => void): T {
  try {
    return write();
  } catch (error) {
    if (!isTaken(error) && !(error instanceof NotChanged)) throw error;
    try {
      explain();
    } catch (reason) {
      throw new RefusedWrite(reason);
    }
    throw error;
  }
}
