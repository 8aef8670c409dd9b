// Rows of the database, and their conversion.

import type { InputItem } from "../../protocol/items.ts";
import type { IncompleteReason } from "../../protocol/response.ts";
import type { ResponseStatus } from "../../protocol/status.ts";
import type { StoredOutput, StoredResponse } from "../store.ts";
import { fromInputRow } from "./input-rows.ts";

/** The columns of a `ResponseRow`. */
export const responseColumns = `
  r.key, r.id, r.owner, r.status, r.is_background, r.model, r.created_at_ms, r.completed_at_ms,
  r.previous_response_id, r.error, r.incomplete_reason, r.usage, r.is_cancel_requested, q.data AS request`;

/** The tables of these columns. */
export const responseTables = "responses r JOIN requests q ON q.response_key = r.key";

export interface ResponseRow {
  readonly key: number;
  readonly id: string;
  readonly owner: string;
  readonly status: ResponseStatus;
  readonly is_background: number;
  readonly model: string;
  readonly created_at_ms: number;
  readonly completed_at_ms: number | null;
  readonly previous_response_id: string | null;
  readonly request: string;
  readonly error: string | null;
  readonly incomplete_reason: IncompleteReason | null;
  readonly usage: string | null;
  readonly is_cancel_requested: number;
}

export interface ItemRow {
  readonly is_output: number;
  readonly position: number;
  readonly turn: number;
  readonly count: number;
  readonly data: string;
}

export function toResponse(row: ResponseRow): StoredResponse {
  return {
    id: row.id,
    owner: row.owner,
    status: row.status,
    background: row.is_background === 1,
    model: row.model,
    createdAtMs: row.created_at_ms,
    completedAtMs: row.completed_at_ms,
    previousResponseId: row.previous_response_id,
    request: JSON.parse(row.request),
    error: row.error === null ? null : JSON.parse(row.error),
    incompleteReason: row.incomplete_reason,
    usage: row.usage === null ? null : JSON.parse(row.usage),
    isCancelRequested: row.is_cancel_requested === 1,
  };
}

export function toOutput({
  position,
  turn,
  data,
}: Pick<ItemRow, "position" | "turn" | "data">): StoredOutput {
  return { index: position, turn, item: JSON.parse(data) };
}

/** Splits the ordered items of one response into input and output. */
export function toItems(rows: readonly ItemRow[]): { input: InputItem[]; output: StoredOutput[] } {
  return {
    input: rows.filter((row) => row.is_output === 0).flatMap(fromInputRow),
    output: rows.filter((row) => row.is_output === 1).map(toOutput),
  };
}
