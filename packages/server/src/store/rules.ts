// What every store refuses. A store looks up the current state, applies these rules in the transaction that writes,
// and writes only what they allow.

import { canMove, isTerminal, type ResponseStatus } from "../protocol/status.ts";
import type { EncodedItem, EncodedNew, EncodedOutput, EncodedWrite } from "./encode.ts";
import type { Lease } from "./run-queue.ts";
import type { StoredEvent } from "./store.ts";
import { StoreError } from "./store-error.ts";

/** An existing item. */
export interface KnownItem {
  readonly id: string;
  /** Its `output_index`, if it belongs to the output of the response that is written to. */
  readonly index: number | undefined;
  readonly isFrozen: boolean;
}

/** The state before a write. */
export interface RunState {
  readonly id: string;
  readonly status: ResponseStatus;
  /** -1 for none. */
  readonly lastSequence: number;
  /** The owner's items that share an id with the write, and this response's that share an index. */
  readonly items: readonly KnownItem[];
}

/** Throws a `StoreError` if the write is not allowed. */
export function checkWrite(state: RunState, write: EncodedWrite): void {
  if (isTerminal(state.status)) {
    const wish = write.update?.status === undefined ? "be written to" : `become ${write.update.status}`;
    throw new StoreError(
      "illegal_transition",
      `The response ${state.id} is ${state.status}, which is final, and cannot ${wish}. Start a new response instead.`,
    );
  }
  const status = write.update?.status;
  if (status !== undefined && !canMove(state.status, status)) {
    throw new StoreError(
      "illegal_transition",
      `The response ${state.id} is ${state.status} and cannot become ${status}.`,
    );
  }
  checkEvents(state.id, state.lastSequence, write.events);
  checkOutput(state, write.output);
}

/** Throws a `StoreError` if the response may not be created. `taken`: those of its item ids that exist already. */
export function checkNew(response: EncodedNew, isTaken: boolean, taken: readonly string[]): void {
  if (isTaken) {
    throw new StoreError("duplicate_id", `There is a response ${response.id} already. Give it a new id.`);
  }
  const ids = new Set(taken);
  for (const { id } of response.input) {
    if (ids.has(id)) {
      throw new StoreError(
        "duplicate_id",
        `The input item ${id} of the response ${response.id} has the id of another item. Give it a new id.`,
      );
    }
    ids.add(id);
  }
  checkEvents(response.id, -1, response.events);
}

/** Throws a `StoreError` if the owner has a response under the same key. */
export function checkKey({ idempotency }: EncodedNew, isTaken: boolean): void {
  if (isTaken)
    throw new StoreError(
      "key_taken",
      `There is a response under the key ${JSON.stringify(idempotency?.key)} already. Give that one.`,
    );
}

/** The lease is lost: its holder must stop. */
export function lostLease({ responseId, fence }: Lease): StoreError {
  return new StoreError(
    "lost_lease",
    `The lease of the response ${responseId} with the fence ${fence} is not held any more: it was released, another worker has claimed the response, or the response was removed. Stop this run.`,
  );
}

/** Throws a `StoreError` if a response may not begin in a conversation. `found`: its state, if it exists. */
export function checkPlace(
  { status, conversation: place }: EncodedNew,
  found: { readonly version: number; readonly isBusy: boolean } | undefined,
): void {
  if (place === undefined) return;
  if (found === undefined)
    throw new StoreError("unknown_conversation", `There is no conversation ${place.id}.`);
  if (found.isBusy && (place.mustBeFree || status === "in_progress"))
    throw new StoreError(
      "conversation_busy",
      `Another response of the conversation ${place.id} runs or waits to. Try again when it has ended.`,
    );
  if (place.version !== undefined && place.version !== found.version)
    throw new StoreError(
      "conversation_changed",
      `The conversation ${place.id} has the version ${found.version}, but ${place.version} was expected. Read it again.`,
    );
}

/** Throws a `StoreError` if items may not be added. `taken`: those of their ids that exist already. */
export function checkNewItems(items: readonly EncodedItem[], taken: readonly string[]): void {
  const ids = new Set(taken);
  for (const { id } of items) {
    if (ids.has(id))
      throw new StoreError(
        "duplicate_id",
        `The conversation item ${id} has the id of another item. Give it a new id.`,
      );
    ids.add(id);
  }
}

export function unknownCursor(parameter: "after" | "before", id: string): StoreError {
  return new StoreError(
    "unknown_cursor",
    `"${parameter}" must be an id of this list, but there is none with the id ${JSON.stringify(id)}.`,
  );
}

/** The owner has a file of that id. */
export function duplicateFile(id: string): StoreError {
  return new StoreError("duplicate_id", `There is a file ${id} already. Give it a new id.`);
}

export function fileRemoved(id: string): StoreError {
  return new StoreError("file_removed", `The file ${id} was removed while it was read.`);
}

export function storeClosed(): StoreError {
  return new StoreError("unavailable", "The store is closed. Open it again to use it.");
}

function checkEvents(id: string, lastSequence: number, events: readonly StoredEvent[]): void {
  let expected = lastSequence + 1;
  for (const { sequence } of events) {
    if (sequence !== expected) {
      throw new StoreError(
        "out_of_order",
        `The next event of the response ${id} must have the sequence number ${expected}, but it has ${sequence}.`,
      );
    }
    expected += 1;
  }
}

function checkOutput(state: RunState, output: readonly EncodedOutput[]): void {
  if (output.length === 0) return;
  const byId = new Map(state.items.map((item) => [item.id, item]));
  const byIndex = new Map<number, KnownItem>();
  for (const item of state.items) if (item.index !== undefined) byIndex.set(item.index, item);
  for (const item of output) {
    checkItem(state.id, item, byIndex.get(item.index), byId.get(item.id));
    // The write may hold two versions of one item: the second is checked against the first.
    byId.set(item.id, item);
    byIndex.set(item.index, item);
  }
}

function checkItem(
  responseId: string,
  { id, index }: EncodedOutput,
  atIndex: KnownItem | undefined,
  withId: KnownItem | undefined,
): void {
  if (atIndex !== undefined && atIndex.id !== id) {
    throw new StoreError(
      "out_of_order",
      `The output index ${index} of the response ${responseId} belongs to the item ${atIndex.id}, but ${id} was to be put there.`,
    );
  }
  if (atIndex === undefined && withId !== undefined) {
    throw new StoreError(
      "duplicate_id",
      `The output item ${id} of the response ${responseId} has the id of another item. Give it a new id.`,
    );
  }
  if (atIndex?.isFrozen) {
    throw new StoreError(
      "frozen_item",
      `The item ${id} of the response ${responseId} has ended and is frozen.`,
    );
  }
}
