// The output of a running response: its items, and the events about them in order.

import type { Announcement, CallEvent, CallItems, CallOutcome, ShownCall } from "../executor/executor.ts";
import type { ExtensionEvent } from "../protocol/events.ts";
import { newItemId, roundMark } from "../protocol/ids.ts";
import type { Annotation, McpApprovalRequestItem, OutputItem } from "../protocol/items.ts";
import type { Journal } from "./journal.ts";
import {
  messageItem,
  type PartForm,
  partBegun,
  partEnded,
  partGrown,
  type ThoughtForm,
  thoughtItem,
  thoughtParts,
} from "./text-parts.ts";

/** A growing text item: the model's text or thinking. */
export interface OpenText {
  readonly type: "message" | "reasoning";
  /** The parts that were begun. */
  readonly parts: readonly PartForm[];
  readonly id: string;
  readonly index: number;
  text: string;
}

export interface OutputOptions {
  readonly journal: Journal;
  /** The response's id. */
  readonly responseId: string;
  /** Default: `summary`. */
  readonly thoughts?: ThoughtForm | undefined;
  /** Encrypts thinking, for clients that request it. */
  readonly sealThought?: ((thought: string) => string) | undefined;
  /** Seals calls of the server, for clients that keep the conversation and leave them out. */
  readonly sealCalls?: ((items: readonly OutputItem[], isWithinAnswer: boolean) => string) | undefined;
  /** Annotations for a text of the model, once it is whole. Default: none. */
  readonly annotate?: ((text: string) => readonly Annotation[]) | undefined;
  /** The items of an earlier start of the run, and the text item that was open then. */
  readonly items?: readonly (OutputItem | undefined)[] | undefined;
  readonly openText?: OpenText | undefined;
  /** Default: -1. */
  readonly answer?: number | undefined;
}

export class Output {
  readonly #journal: Journal;
  readonly #responseId: string;
  readonly #thoughtParts: readonly PartForm[];
  readonly #sealThought: ((thought: string) => string) | undefined;
  readonly #sealCalls: OutputOptions["sealCalls"];
  readonly #annotate: OutputOptions["annotate"];
  /** Calls of the server that are not sealed yet. */
  #unsealed: OutputItem[] = [];
  /** How many calls the server has shown. */
  #serverCalls: number;
  /** By output index; a call without an answer has its place, but no item. */
  readonly #items: (OutputItem | undefined)[];
  #openText: OpenText | undefined;
  #mark: { readonly answer: number; readonly text: string } | undefined;
  /** The number of the answer that is being written, from 0; -1 before the first. */
  answer: number;

  constructor(options: OutputOptions) {
    const {
      journal,
      responseId,
      thoughts = "summary",
      sealThought,
      sealCalls,
      annotate,
      items = [],
      openText,
      answer = -1,
    } = options;
    this.#journal = journal;
    this.#responseId = responseId;
    this.#thoughtParts = thoughtParts(thoughts);
    this.#sealThought = sealThought;
    this.#sealCalls = sealCalls;
    this.#annotate = annotate;
    this.#items = [...items];
    // Too many rather than too few: an id that promises calls in vain costs one look into the store.
    this.#serverCalls = items.length;
    this.#openText = openText;
    this.answer = answer;
  }

  /** The finished items, in order. */
  get items(): OutputItem[] {
    return this.#items.filter((item) => item !== undefined);
  }

  /** Marks the items of the answer that is being written; undefined before the first. */
  get mark(): string | undefined {
    if (this.answer < 0) return undefined;
    if (this.#mark?.answer !== this.answer)
      this.#mark = { answer: this.answer, text: roundMark(this.#responseId, this.answer) };
    return this.#mark.text;
  }

  /** Appends to the open item; starts a new one if that is of the other type. */
  addText(type: OpenText["type"], delta: string): void {
    if (delta === "") return;
    if (this.#openText && this.#openText.type !== type) this.closeText("completed");
    this.#openText ??= this.#beginText(type);
    const open = this.#openText;
    open.text += delta;
    if (!this.#journal.isHeard) return;
    for (const part of open.parts) this.#journal.emit(partGrown(part, placeOf(open), delta));
  }

  /** Finishes the open text item, if there is one. */
  closeText(status: "completed" | "incomplete"): void {
    const open = this.#openText;
    if (!open) return;
    this.#openText = undefined;
    const { id, index, text, parts } = open;
    const annotations = open.type === "message" ? this.#annotate?.(text) : undefined;
    if (this.#journal.isHeard)
      for (const part of parts)
        for (const event of partEnded(part, placeOf(open), text, annotations)) this.#journal.emit(event);
    if (open.type === "message") this.#finish(index, messageItem(id, status, text, annotations));
    else {
      const sealed = this.#sealThought && { encrypted_content: this.#sealThought(text) };
      this.#finish(index, { ...thoughtItem(id, status, parts, text), ...sealed });
    }
  }

  /** Shows a call that is about to run. */
  beginCall(items: CallItems, call: Omit<ShownCall, "id" | "index">): ShownCall {
    const shown: ShownCall = { id: this.newId(items.idPrefix), index: this.#next(), ...call };
    if (call.callId === undefined) this.#serverCalls += 1;
    this.#add(shown.index, ownItem(items, shown));
    this.emitFor(shown, items.begun(shown));
    return shown;
  }

  /** Shows the outcome of a call. */
  finishCall(items: CallItems, shown: ShownCall, outcome: CallOutcome): void {
    this.emitFor(shown, items.ended(shown, outcome));
    const item = ownItem(items, shown, outcome);
    this.#finish(shown.index, item);
    if (shown.callId === undefined && this.#sealCalls) this.#unsealed.push(item);
    const more = items.followUp?.(shown, outcome);
    if (more) this.announce(more);
  }

  /** Shows a thought without words that holds the calls since the last one. `isWithinAnswer`: the client's follow. */
  carryCalls(isWithinAnswer = false): void {
    if (this.#unsealed.length === 0 || !this.#sealCalls) return;
    const encrypted_content = this.#sealCalls(this.#unsealed, isWithinAnswer);
    this.#unsealed = [];
    const index = this.#next();
    const item = { type: "reasoning" as const, id: this.newId("rs"), summary: [] };
    this.#add(index, { ...item, status: "in_progress" });
    this.#finish(index, { ...item, encrypted_content, status: "completed" });
  }

  /** An id for an item or a client's call. */
  newId(prefix: string): string {
    const place = { responseId: this.#responseId, serverCalls: this.#serverCalls, mark: this.mark };
    return newItemId(prefix, place);
  }

  /** Sends events about an item. Their place is the server's to say, whatever they have themselves. */
  emitFor({ id, index }: Pick<ShownCall, "id" | "index">, events: readonly CallEvent[]): void {
    const place = { item_id: id, output_index: index };
    for (const event of events) {
      const { type, sequence_number: _, ...rest } = event as ExtensionEvent;
      this.#journal.emit({ type, ...place, ...rest, ...place });
    }
  }

  /** Shows an item that is complete. */
  announce({ idPrefix, added, events, done }: Omit<Announcement, "isKnown">): void {
    const id = this.newId(idPrefix);
    const index = this.#next();
    this.#add(index, { ...added, id });
    this.emitFor({ id, index }, events);
    this.#finish(index, { ...done, id });
  }

  /** Shows a call that waits for a person to allow it. */
  addApprovalRequest(request: Omit<McpApprovalRequestItem, "type">): void {
    const index = this.#next();
    const item: McpApprovalRequestItem = { type: "mcp_approval_request", ...request };
    this.#add(index, item);
    this.#finish(index, item);
  }

  #beginText(type: OpenText["type"]): OpenText {
    const open: OpenText = {
      type,
      parts: type === "message" ? ["message"] : this.#thoughtParts,
      id: this.newId(type === "message" ? "msg" : "rs"),
      index: this.#next(),
      text: "",
    };
    if (!this.#journal.isHeard) return open;
    const { id, index, parts } = open;
    this.#add(
      index,
      type === "message" ? messageItem(id, "in_progress") : thoughtItem(id, "in_progress", parts),
    );
    for (const part of parts) this.#journal.emit(partBegun(part, placeOf(open)));
    return open;
  }

  #next(): number {
    return this.#items.push(undefined) - 1;
  }

  #add(index: number, item: OutputItem): void {
    this.#journal.emit({ type: "response.output_item.added", output_index: index, item });
  }

  #finish(index: number, item: OutputItem): void {
    this.#items[index] = item;
    this.#journal.put({ index, turn: this.answer, item });
    this.#journal.emit({ type: "response.output_item.done", output_index: index, item });
  }
}

/** The item of a call. Its type and id are the server's to say: they must not pass for those of another item. */
function ownItem(items: CallItems, shown: ShownCall, outcome?: CallOutcome): OutputItem {
  return { ...items.item(shown, outcome), type: items.type, id: shown.id } as OutputItem;
}

function placeOf({ id, index }: OpenText) {
  return { item_id: id, output_index: index };
}
