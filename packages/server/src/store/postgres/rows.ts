// Rows of the database, and their conversion.

import type { InputItem, OutputItem } from "../../protocol/items.ts";
import type { IncompleteReason } from "../../protocol/response.ts";
import type { ResponseStatus } from "../../protocol/status.ts";
import type { StoredOutput, StoredResponse } from "../store.ts";
import { fromDbText } from "./text.ts";

/** The columns of a `ResponseRow`. */
export const responseColumns = `
  r.id, r.owner, r.status, r.is_background, r.model, r.created_at_ms, r.completed_at_ms,
  r.previous_response_id, r.error, r.incomplete_reason, r.usage, r.is_cancel_requested, q.data AS request`;

/** The tables of these columns, in the schema `s`. */
export const responseTables = (s: string): string =>
  `${s}.responses r JOIN ${s}.requests q ON q.response_key = r.key`;

export interface ResponseRow {
  readonly id: string;
  readonly owner: string;
  readonly status: ResponseStatus;
  readonly is_background: boolean;
  readonly model: string;
  readonly created_at_ms: number;
  readonly completed_at_ms: number | null;
  readonly previous_response_id: string | null;
  readonly request: string;
  readonly error: string | null;
  readonly incomplete_reason: IncompleteReason | null;
  readonly usage: string | null;
  readonly is_cancel_requested: boolean;
}

export interface ItemRow {
  readonly is_output: boolean;
  readonly position: number;
  readonly turn: number;
  readonly data: string;
}

export function toResponse(row: ResponseRow): StoredResponse {
  return {
    id: fromDbText(row.id),
    owner: fromDbText(row.owner),
    status: row.status,
    background: row.is_background,
    model: fromDbText(row.model),
    createdAtMs: row.created_at_ms,
    completedAtMs: row.completed_at_ms,
    previousResponseId: row.previous_response_id === null ? null : fromDbText(row.previous_response_id),
    request: JSON.parse(row.request),
    error: row.error === null ? null : JSON.parse(row.error),
    incompleteReason: row.incomplete_reason,
    usage: row.usage === null ? null : JSON.parse(row.usage),
    isCancelRequested: row.is_cancel_requested,
  };
}

export function toItem(row: { data: string }): InputItem | OutputItem {
  return JSON.parse(row.data);
}

export function toOutput({ position, turn, data }: Omit<ItemRow, "is_output">): StoredOutput {
  return { index: position, turn, item: JSON.parse(data) };
}

/** Splits the ordered items of one response into input and output. */
export function toItems(rows: readonly ItemRow[]): { input: InputItem[]; output: StoredOutput[] } {
  return {
    input: rows.filter((row) => !row.is_output).map((row) => JSON.parse(row.data)),
    output: rows.filter((row) => row.is_output).map(toOutput),
  };
}
