// Encodes what is written as JSON text, when a call comes in: later changes to the caller's objects are not stored.

import type { NewResponse, ResponseUpdate, RunWrite, StoredEvent, TracePiece } from "./store.ts";

export interface EncodedItem {
  readonly id: string;
  readonly data: string;
}

export interface EncodedOutput extends EncodedItem {
  readonly index: number;
  readonly turn: number;
  /** Whether it is finished, and may not change any more. */
  readonly isFrozen: boolean;
}

export interface EncodedUpdate extends Omit<ResponseUpdate, "error" | "usage"> {
  readonly error?: string;
  readonly usage?: string;
}

export interface EncodedWrite {
  readonly events: readonly StoredEvent[];
  readonly output: readonly EncodedOutput[];
  readonly steps: readonly string[];
  readonly update: EncodedUpdate | undefined;
  readonly trace: TracePiece | undefined;
}

export interface EncodedNew extends Omit<NewResponse, "request" | "input"> {
  readonly request: string;
  readonly input: readonly EncodedItem[];
}

export function encodeWrite(write: RunWrite): EncodedWrite {
  return {
    events: (write.events ?? []).map(copyEvent),
    output: (write.output ?? []).map(({ index, turn, item }) => ({
      index,
      turn,
      id: item.id,
      isFrozen: !("status" in item) || item.status !== "in_progress",
      data: JSON.stringify(item),
    })),
    steps: (write.steps ?? []).map((step) => JSON.stringify(step)),
    update: write.update && encodeUpdate(write.update),
    trace: write.trace && copyPiece(write.trace),
  };
}

export function encodeNew(response: NewResponse): EncodedNew {
  return {
    ...response,
    request: JSON.stringify(response.request),
    input: encodeItems(response.input),
    ...(response.conversation && { conversation: { ...response.conversation } }),
    ...(response.idempotency && { idempotency: { ...response.idempotency } }),
    events: response.events.map(copyEvent),
  };
}

export function encodeItems(items: readonly { id: string }[]): EncodedItem[] {
  return items.map((item) => ({ id: item.id, data: JSON.stringify(item) }));
}

function encodeUpdate({ error, usage, ...rest }: ResponseUpdate): EncodedUpdate {
  return {
    ...rest,
    ...(error && { error: JSON.stringify(error) }),
    ...(usage && { usage: JSON.stringify(usage) }),
  };
}

export function copyPiece({ first, last, lines }: TracePiece): TracePiece {
  return { first, last, lines };
}

function copyEvent({ sequence, data }: StoredEvent): StoredEvent {
  return { sequence, data };
}
