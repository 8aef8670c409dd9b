// Reads the events of a Responses API stream into the deltas that every model's stream has.

import { isPlainObject } from "../../error/check.ts";
import { jsonFlaw } from "../../json/json-flaw.ts";
import type { JsonObject } from "../../json/json-value.ts";
import type { AnswerReader } from "../chat-answer.ts";
import type { AnswerEnding } from "../chat-stream-reader.ts";
import type { FinishReason, ModelDelta } from "../provider.ts";
import { CallCollector } from "../reading/call-collector.ts";
import { settleFinishReason } from "../reading/finish-reason.ts";
import { readUsage } from "../reading/read-usage.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The events that carry text, without their `.delta` or `.done`, and the field that has all of it at the end. */
const texts: ReadonlyMap<string, { readonly type: "text.delta" | "thinking.delta"; readonly whole: string }> =
  new Map([
    ["response.output_text", { type: "text.delta", whole: "text" }],
    ["response.refusal", { type: "text.delta", whole: "refusal" }],
    ["response.reasoning_text", { type: "thinking.delta", whole: "text" }],
    ["response.reasoning_summary_text", { type: "thinking.delta", whole: "text" }],
  ]);

/** Other events of items that are read, without what follows their last dot. */
const itemEvents = new Set(["response.output_item", "response.function_call_arguments"]);

/** Items that become deltas. All others are the server's own. */
const readItems = new Set<unknown>(["message", "reasoning", "function_call"]);

/** Events that say nothing new: where parts begin and end, and that the server is still there. */
const skipped =
  /^(?:keepalive$|response\.(?:created|queued|in_progress|content_part\.|reasoning_summary_part\.|output_text\.))/;

/** The state of one response. */
export class ResponseReader implements AnswerReader {
  readonly expected = "a response of the Responses API";
  /** The response as its last event has it; undefined before its end. */
  response: JsonObject | undefined;
  readonly #calls: CallCollector;
  /** Calls, and pieces of text, of which something has come: what repeats them at their end is skipped. */
  readonly #begun = new Set<string>();
  /** Calls by all that names them: `output_index`, the item's id, `call_id`. Some servers repeat or change one of these. */
  readonly #callKeys = new Map<string, string>();
  /** The kind of events that each thought is read from: a server may send it as content and as a summary. */
  readonly #thoughtKinds = new Map<string | number, string>();
  readonly #hasText = { "text.delta": false, "thinking.delta": false };
  #deltas: ModelDelta[] = [];
  /** Whether any event of an item has come. */
  #hasItems = false;
  #isEnded = false;

  /** `previous` is the response that this one continues, in the same answer. */
  constructor(maxCalls: number, previous?: ResponseReader) {
    if (previous) this.#hasText = previous.#hasText;
    const emit = (delta: ModelDelta) => this.#deltas.push(delta);
    this.#calls = new CallCollector({ toolNames: [], isCumulative: false, maxCalls, emit });
  }

  get hasTooManyCalls(): boolean {
    return this.#calls.hasTooMany;
  }

  get isComplete(): boolean {
    return this.response !== undefined;
  }

  /** A response that came all at once, as the event that ends a stream. */
  toChunk(whole: unknown): unknown {
    if (!isPlainObject(whole) || !Array.isArray(whole["output"])) return undefined;
    return { type: "response.completed", response: whole };
  }

  read(event: unknown): void {
    if (this.isComplete || !isPlainObject(event) || typeof event["type"] !== "string") return;
    const { type } = event;
    const [kind, piece] = [type.slice(0, type.lastIndexOf(".")), type.slice(type.lastIndexOf(".") + 1)];
    const text = texts.get(kind);
    if (text || itemEvents.has(kind)) this.#hasItems = true;
    if (text && piece === "delta") this.#text(text.type, kind, event, event["delta"]);
    else if (text && piece === "done") this.#whole(text.type, kind, event, event[text.whole]);
    else if (kind === "response.function_call_arguments") this.#arguments(event, piece);
    else if (kind === "response.output_item") this.#item(event, piece === "done");
    else if (type === "response.completed" || type === "response.incomplete") this.#end(event["response"]);
    else if (!skipped.test(type)) this.#pass(event);
  }

  take(): ModelDelta[] {
    const deltas = this.#deltas;
    this.#deltas = [];
    return deltas;
  }

  end({ isCutOff }: AnswerEnding): ModelDelta[] {
    if (this.#isEnded) return [];
    this.#isEnded = true;
    const reason = this.response && finishReasonOf(this.response);
    const isTruncated = isCutOff || reason === "length" || reason === "content_filter";
    this.#calls.end({ isCutOff: isTruncated, hasReason: this.isComplete, hasEnd: this.isComplete });
    const finishReason = settleFinishReason(reason, { hasCalls: this.#calls.count > 0, isCutOff });
    this.#deltas.push({ type: "finished", finishReason, usage: readUsage(this.response?.["usage"]) });
    return this.take();
  }

  #text(type: "text.delta" | "thinking.delta", kind: string, event: Fields, text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    if (type === "thinking.delta" && !this.#isFirstKind(kind, event)) return;
    const key = partKey(kind, event);
    // Another message, or another part of one, is another paragraph.
    const isNew = !this.#begun.has(key);
    this.#begun.add(key);
    const piece = isNew && this.#hasText[type] ? `\n\n${text}` : text;
    this.#hasText[type] = true;
    const last = this.#deltas.at(-1);
    if (last?.type === type) this.#deltas[this.#deltas.length - 1] = { type, text: last.text + piece };
    else this.#deltas.push({ type, text: piece });
  }

  #isFirstKind(kind: string, { output_index, item_id }: Fields): boolean {
    const item = keyOf(output_index ?? item_id);
    if (!this.#thoughtKinds.has(item)) this.#thoughtKinds.set(item, kind);
    return this.#thoughtKinds.get(item) === kind;
  }

  /** All of a text at its end: new only where it did not come in pieces. */
  #whole(type: "text.delta" | "thinking.delta", kind: string, event: Fields, text: unknown): void {
    if (!this.#begun.has(partKey(kind, event))) this.#text(type, kind, event, text);
  }

  #arguments({ output_index, item_id, call_id, delta, arguments: whole }: Fields, piece: string): void {
    const key = this.#callKey(output_index, item_id, call_id);
    const isNew = !this.#begun.has(`arguments ${key}`);
    // Some servers send the whole as an object.
    const text = piece === "delta" ? delta : isNew ? whole : undefined;
    if (text === undefined || text === null || text === "") return;
    this.#begun.add(`arguments ${key}`);
    this.#calls.addPieces([{ index: key, arguments: text }]);
  }

  /** Two items at one index are two calls if neither their ids nor their `call_id`s are the same. */
  #callKey(index: unknown, itemId: unknown, callId: unknown): string {
    const at = `index ${keyOf(index ?? itemId ?? callId)}`;
    const names = [itemId, callId].flatMap((id, place) =>
      typeof id === "string" ? [`${place} ${at} ${id}`] : [],
    );
    const known = names.map((name) => this.#callKeys.get(name)).find((key) => key !== undefined);
    const isOther = known === undefined && names.length === 2 && this.#callKeys.has(at);
    const key = known ?? (isOther ? names.join() : (this.#callKeys.get(at) ?? at));
    for (const name of known === undefined ? [at, ...names] : names) this.#callKeys.set(name, key);
    return key;
  }

  #item(event: Fields, isDone: boolean): void {
    const { item, output_index } = event;
    if (!isPlainObject(item) || !readItems.has(item["type"])) {
      this.#pass(event);
      return;
    }
    const { type, id } = item;
    const at = { output_index, item_id: id };
    if (type === "function_call") {
      const { call_id, name, arguments: text } = item;
      const key = this.#callKey(output_index, id, call_id);
      if (!this.#begun.has(`call ${key}`)) this.#calls.addPieces([{ index: key, id: call_id, name }]);
      this.#begun.add(`call ${key}`);
      if (isDone) this.#arguments({ ...at, call_id, arguments: text }, "done");
    } else if (isDone) this.#parts(item, at);
  }

  /** The texts of a message or a thought, for servers that send them at its end only. */
  #parts({ content, summary }: Fields, at: Fields): void {
    for (const [field, parts] of Object.entries({ content_index: content, summary_index: summary }))
      for (const [index, part] of (Array.isArray(parts) ? parts : []).entries()) {
        if (!isPlainObject(part)) continue;
        const kind = `response.${part["type"] === "summary_text" ? "reasoning_summary_text" : keyOf(part["type"])}`;
        const text = texts.get(kind);
        if (text) this.#whole(text.type, kind, { ...at, [field]: index }, part[text.whole]);
      }
  }

  #end(response: unknown): void {
    // Its error, or its lack of one, has been looked at; a response that cannot be kept is none.
    if (!isPlainObject(response) || jsonFlaw(response) !== undefined) return;
    // A response that came all at once, or a stream without the events of its items.
    if (!this.#hasItems && Array.isArray(response["output"]))
      for (const [index, item] of response["output"].entries())
        this.#item({ type: "response.output_item.done", output_index: index, item }, true);
    this.response = response as JsonObject;
  }

  #pass(event: Fields): void {
    if (jsonFlaw(event) === undefined)
      this.#deltas.push({ type: "server.event", event: event as JsonObject });
  }
}

function partKey(kind: string, { output_index, item_id, content_index, summary_index }: Fields): string {
  return `${kind} ${keyOf(output_index ?? item_id)} ${keyOf(content_index ?? summary_index ?? 0)}`;
}

function keyOf(value: unknown): string | number {
  return typeof value === "string" || typeof value === "number" ? value : "";
}

function finishReasonOf({ status, incomplete_details: details }: JsonObject): FinishReason {
  const reason = isPlainObject(details) ? details["reason"] : undefined;
  if (reason === "max_output_tokens") return "length";
  if (reason === "content_filter") return "content_filter";
  return status === "completed" || status === "requires_action" ? "stop" : "unknown";
}
