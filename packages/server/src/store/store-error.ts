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

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export function isStoreError(error: unknown, code: StoreErrorCode): error is StoreError {
  return error instanceof StoreError && error.code === code;
}
