// Ids: a prefix that names the kind, and an unguessable part.

import { randomFillSync } from "node:crypto";

/** The prefixes of the server's own ids; executors bring theirs. */
export type IdPrefix =
  | "resp"
  | "msg"
  | "rs"
  | "mcpr"
  | "conv"
  | "req"
  | "in"
  | "call"
  | "chatcmpl"
  | "cmp"
  | (string & {});

// Each call for random bytes costs ten times as much as using them, so they are fetched, and written as text, in bulk.
const pool = Buffer.alloc(4096);
let digits = "";
let used = 0;

function randomDigits(count: number): string {
  if (used + count > digits.length) {
    digits = randomFillSync(pool).toString("hex");
    used = 0;
  }
  used += count;
  return digits.slice(used - count, used);
}

/** A new id, such as `conv_9f…`: 128 random bits, so that it cannot be guessed. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomDigits(32)}`;
}

const burst = { digits: "", left: 0, endsAtMs: 0 };
/** Together they fill about a page of an index. */
const idsPerBurst = 32;
const burstMs = 100;

/**
 * A new id for a response. Those of one burst begin with the same six random digits, and so do the ids of their items:
 * neighbours in an index, which a store writes together. 104 random bits follow.
 */
export function newResponseId(): string {
  const nowMs = Date.now();
  if (burst.left === 0 || nowMs >= burst.endsAtMs) {
    burst.digits = randomDigits(6);
    burst.left = idsPerBurst;
    burst.endsAtMs = nowMs + burstMs;
  }
  burst.left -= 1;
  return `resp_${burst.digits}${randomDigits(26)}`;
}

let timeMs = -1;
let timeDigits = "";

/**
 * A new id for an item that is added to a conversation, with the mark of a round. It begins with the time: items come by
 * dozens, and a store writes neighbours in an index together, but a page for each stranger. 80 random bits follow.
 */
export function newTimedId(prefix: IdPrefix, mark: string | undefined): string {
  const nowMs = Date.now();
  if (nowMs !== timeMs) {
    timeMs = nowMs;
    timeDigits = nowMs.toString(16).padStart(12, "0");
  }
  return withMark(`${prefix}_${timeDigits}${randomDigits(20)}`, mark);
}

/** Where an item of a request stands. */
export interface InputPlace {
  readonly responseId: string;
  /** From 0. */
  readonly position: number;
}

/**
 * The id of an item of a request, with the mark of a round. It names the response and the position, so that a store
 * needs no index of such ids.
 */
export function inputId(
  prefix: IdPrefix,
  { responseId, position }: InputPlace,
  mark: string | undefined,
): string {
  if (!isWholeResponseId(responseId) || position > maxPosition) return newTimedId(prefix, mark);
  return withMark(`${prefix}${responseId.slice("resp".length)}${positionDigits(position)}`, mark);
}

/** Whether an id is that of the item at this place: what `readInputId()` gives for it. */
export function isInputIdOf(id: string, { responseId, position }: InputPlace): boolean {
  const start = id.indexOf("_");
  const end = start + "_".length + 32 + 6;
  return (
    id.startsWith(positionDigits(position), end - 6) &&
    id.startsWith(responseId.slice("resp".length), start) &&
    isWholeResponseId(responseId) &&
    (id.length === end || markAtEnd.test(id.slice(end))) &&
    isPrefix(id, start)
  );
}

/** Whether an id begins with so many small letters: an expression takes longer, and requests have dozens of items. */
function isPrefix(id: string, length: number): boolean {
  for (let index = 0; index < length; index += 1) {
    const code = id.charCodeAt(index);
    if (code < 0x61 || code > 0x7a) return false;
  }
  return length > 0 && length <= 16;
}

/** The place of an item of a request; undefined for an id of another kind. */
export function readInputId(id: string): InputPlace | undefined {
  const [, response, position = ""] = idOfInput.exec(id) ?? [];
  return response === undefined
    ? undefined
    : { responseId: `resp_${response}`, position: Number.parseInt(position, 16) };
}

const maxPosition = 0xff_ff_ff;
/** Written once: requests have dozens of items. */
const usualPositions = Array.from({ length: 256 }, (_, position) => writePosition(position));

function positionDigits(position: number): string {
  return usualPositions[position] ?? writePosition(position);
}

function writePosition(position: number): string {
  return position.toString(16).padStart(6, "0");
}

const markAtEnd = /^_[0-9a-f]{8}$/;
const idOfInput = /^[a-z]{1,16}_([0-9a-f]{32})([0-9a-f]{6})(?:_[0-9a-f]{8})?$/;

// Of `newItemId()`, `inputId()` and `newTimedId()`, or of an approval request.
const marked = /(?:_[0-9a-f]{32}(?:[0-9a-f]{6}|[0-9a-f]{14})?|^mcpr_[\w-]{16})_([0-9a-f]{8})(?:\.|$)/;

/**
 * The mark of a round of a response. The ids of its items end in it, so that calls of one round and of successive ones
 * can be told apart in a history that a client sends again.
 */
export function roundMark(responseId: string, answer: number): string {
  // FNV-1a: it only has to tell rounds apart, and the id is random.
  const text = `${responseId} ${answer}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** The mark in the id of an item; undefined for items of other servers and of older versions. */
export function markOf(id: unknown): string | undefined {
  return typeof id === "string" && id.length < 512 ? marked.exec(id)?.[1] : undefined;
}

export interface ItemPlace {
  readonly responseId: string;
  /** How many calls the server ran in the response before the item. */
  readonly serverCalls: number;
  /** The mark of its round. Default: it is of none. */
  readonly mark?: string | undefined;
}

/**
 * A new id for an item of a response. It names the response, and counts the server's calls before the item, so that a
 * client which sends the item back shows which calls it leaves out.
 */
export function newItemId(prefix: IdPrefix, { responseId, serverCalls, mark }: ItemPlace): string {
  const response = wholeResponseId.exec(responseId)?.[1];
  if (response === undefined) return withMark(newId(prefix), mark);
  const count = Math.min(serverCalls, 0xff).toString(16).padStart(2, "0");
  return withMark(`${prefix}_${response}${count}${randomDigits(12)}`, mark);
}

/** The response of an item, and whether the server ran calls before it; undefined for an id of another kind. */
export function readItemId(id: string): { responseId: string; hasServerCalls: boolean } | undefined {
  const [, response, count] = itemId.exec(id) ?? [];
  if (response === undefined) return undefined;
  return { responseId: `resp_${response}`, hasServerCalls: count !== "00" };
}

const wholeResponseId = /^resp_([0-9a-f]{32})$/;
let lastWholeResponseId = "";

/** The items of a request ask for the same one. */
function isWholeResponseId(id: string): boolean {
  if (id === lastWholeResponseId) return true;
  if (!wholeResponseId.test(id)) return false;
  lastWholeResponseId = id;
  return true;
}

const itemId = /^[a-z]{1,16}_([0-9a-f]{32})([0-9a-f]{2})[0-9a-f]{12}(?:_[0-9a-f]{8})?$/;

function withMark(id: string, mark: string | undefined): string {
  return mark === undefined ? id : `${id}_${mark}`;
}
