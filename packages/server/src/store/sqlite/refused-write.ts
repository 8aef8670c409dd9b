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

/** Runs a write. If something is there already that has to be unique, it is refused with what `explain` throws. */
export function unlessTaken<T>(write: () => T, explain: () => void): T {
  try {
    return write();
  } catch (error) {
    if (!isTaken(error)) throw error;
    try {
      explain();
    } catch (reason) {
      throw new RefusedWrite(reason);
    }
    throw error;
  }
}
