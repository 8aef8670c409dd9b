// Errors of a store: what it refuses, and why it cannot work.

export type StoreErrorCode =
  | "lost_lease"
  | "illegal_transition"
  | "frozen_item"
  | "out_of_order"
  | "duplicate_id"
  | "unknown_cursor"
  /** The owner has another response under the same key. */
  | "key_taken"
  | "unknown_conversation"
  /** Another response of the conversation is running or queued. */
  | "conversation_busy"
  /** The conversation changed after the response was planned. */
  | "conversation_changed"
  /** The file was removed while it was read. */
  | "file_removed"
  /** The disk is full, the database is locked or broken: nothing was written. */
  | "unavailable"
  /** Another process has the store open. */
  | "in_use"
  /** Written by a newer version. */
  | "unknown_version";

/** Why a store is unavailable, without names of files, hosts and users: for clients. */
export type StoreFault =
  | "unreachable"
  /** Its database accepts no more connections, or this process has none free. */
  | "no_connections"
  | "slow"
  | "read_only"
  | "full"
  /** Its database starts, or stops. */
  | "restarting"
  /** Its database refuses the role, the password or a right. */
  | "denied";

const faults: Readonly<Record<StoreFault, string>> = {
  unreachable: "its database cannot be reached",
  no_connections: "its database has no free connection",
  slow: "its database does not answer in time",
  read_only: "its database is read-only at the moment",
  full: "its database has no room left",
  restarting: "its database is starting or stopping",
  denied: "its database refuses this server's role",
};

export interface StoreErrorOptions extends ErrorOptions {
  /** Default: unknown. */
  readonly fault?: StoreFault | undefined;
}

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  /** Why it is unavailable, if that is known. */
  readonly fault: StoreFault | undefined;

  constructor(code: StoreErrorCode, message: string, { fault, ...options }: StoreErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.fault = fault;
  }
}

/** What everyone may read about an unavailable store; undefined if the reason is unknown. */
export function publicReason(error: unknown): string | undefined {
  return error instanceof StoreError && error.fault !== undefined ? faults[error.fault] : undefined;
}

/** When a client should try again. */
export function storeRetryMs(error: StoreError): number {
  // What is only busy is soon free again.
  return error.fault === undefined || error.fault === "slow" || error.fault === "no_connections"
    ? 1000
    : 5000;
}

export function isStoreError(error: unknown, code: StoreErrorCode): error is StoreError {
  return error instanceof StoreError && error.code === code;
}
