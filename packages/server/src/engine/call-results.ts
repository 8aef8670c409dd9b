// The results of the calls of a conversation. A history may use an id again, and a client may answer one call several
// times, as Codex does with notifications: later outputs then add to the first.

import type { ContentPart } from "rondo";
import { type ApiError, invalidRequest } from "../protocol/api-error.ts";

export interface CallResult {
  readonly content: string;
  /** Images, which a tool message cannot hold. */
  readonly images: readonly ContentPart[];
}

interface Slot {
  result: CallResult | undefined;
}

/** How many ids an error names, and how much of each. */
const maxNamed = 5;
const maxIdChars = 100;

export class CallResults {
  /** By the id of the call, in order. */
  readonly #slots = new Map<string, Slot[]>();
  /** Outputs that came before their call, by its id. */
  readonly #early = new Map<string, { kind: string; result: CallResult }>();

  /** Notes a call. */
  expect(id: string): void {
    const slots = this.#slots.get(id) ?? [];
    this.#slots.set(id, slots);
    slots.push({ result: this.#early.get(id)?.result });
    this.#early.delete(id);
  }

  /** Notes an output: of the first call with this id that has none, else more of the last one. */
  add(id: string, result: CallResult, kind: string): void {
    const slots = this.#slots.get(id) ?? [];
    const slot = slots.find((it) => it.result === undefined) ?? slots.at(-1);
    if (slot) slot.result = joined(slot.result, result);
    else this.#early.set(id, { kind, result: joined(this.#early.get(id)?.result, result) });
  }

  /** The result of the next call with this id. */
  take(id: string): CallResult | undefined {
    return this.#slots.get(id)?.shift()?.result;
  }

  /** Throws for an output without a call. Before results are taken. */
  check(): void {
    for (const [id, { kind }] of this.#early) throw this.#noCall(id, kind);
  }

  #noCall(id: string, kind: string): ApiError {
    const open = [...this.#slots].flatMap(([callId, slots]) =>
      slots.some(({ result }) => result === undefined) ? [callId.slice(0, maxIdChars)] : [],
    );
    const named = open.slice(0, maxNamed).join(", ") + (open.length > maxNamed ? ", …" : "");
    const advice =
      open.length === 0
        ? "Send the call with it, or the id of the response that made it as previous_response_id."
        : `The calls without an output are ${named}. Use the call_id of the response's item: the model server's own ids are not used here.`;
    return invalidRequest(
      "input",
      `No tool call found for ${kind} output with call_id ${id.slice(0, maxIdChars)}. ${advice}`,
    );
  }
}

function joined(first: CallResult | undefined, more: CallResult): CallResult {
  if (!first) return more;
  return { content: `${first.content}\n${more.content}`, images: [...first.images, ...more.images] };
}
