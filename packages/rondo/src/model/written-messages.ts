// The messages of a request as JSON. A conversation is sent again and again, longer each time, and writing all of it
// would take as long as the rest of a round: so the JSON of what was sent before is kept.

import { copyData } from "../json/copy.ts";
import { sameJson } from "../json/same-json.ts";
import type { Message, ToolCall, ToolMessage } from "./message.ts";
import type { ModelProfile } from "./profile.ts";
import { CallIds, checkMessages, wireMessages } from "./wire-messages.ts";

/** Shorter parts are put together: a part has a cost too. */
const minPartLength = 16_384;

/** What is longer is kept for one list only: the first message of a conversation may live for long. */
const maxKeptLength = 1_000_000;

/**
 * By the first message after the system's, as all lists of a conversation begin with that object, or by the list. Most
 * are sent once, and nothing but that is kept of them.
 */
const kept = new WeakMap<Message | readonly Message[], WrittenMessages | "sent once">();

/** The messages for the wire, as parts of JSON. An `instruction` becomes part of the system message. */
export function messagesJson(
  messages: readonly Message[],
  profile: ModelProfile,
  instruction?: string,
): readonly string[] {
  checkMessages(messages);
  const first = instruction === undefined ? messages.find(({ role }) => role !== "system") : undefined;
  const known = first && (kept.get(messages) ?? kept.get(first));
  if (first && !known) kept.set(first, "sent once");
  if (!first || !known) return [JSON.stringify(wireMessages(messages, profile, { instruction }))];
  const isUsable = known !== "sent once" && known.profile === profile;
  const written = isUsable ? known : new WrittenMessages(profile);
  // What cannot be written as JSON leaves it half done.
  kept.delete(first);
  kept.delete(messages);
  const json = written.write(messages);
  kept.set(written.length > maxKeptLength ? messages : first, written);
  return json;
}

/** The beginning of a list, up to its last answer or result: a prompt may still be joined with the next one. */
class WrittenMessages {
  readonly profile: ModelProfile;
  #ids: CallIds;
  /** The messages as they were written. */
  #copies: Message[] = [];
  /** Their JSON after the bracket, in parts: one long text would be copied with each request. */
  #parts: Part[] = [];

  constructor(profile: ModelProfile) {
    this.profile = profile;
    this.#ids = new CallIds(profile.callIds);
  }

  /** In characters of JSON. */
  get length(): number {
    return this.#parts.reduce((sum, { json }) => sum + json.length, 0);
  }

  /** Writes what is new, or has changed. Gives all messages. */
  write(messages: readonly Message[]): readonly string[] {
    const unchanged = this.#countUnchanged(messages);
    if (unchanged < this.#copies.length) this.#cut(unchanged);
    const end = messages.findLastIndex(({ role }) => role === "assistant" || role === "tool") + 1;
    const added = messages.slice(this.#copies.length, end);
    const json = added.length > 0 ? this.#toJson(added) : "";
    if (json !== "") {
      for (const message of added) this.#copies.push(isFixed(message) ? message : copyData(message));
      this.#keep(json);
    }
    const last = this.#toJson(messages.slice(end));
    const comma = this.#parts.length > 0 && last !== "" ? "," : "";
    return ["[", ...this.#parts.map((part) => part.json), `${comma}${last}]`];
  }

  #countUnchanged(messages: readonly Message[]): number {
    const copies = this.#copies;
    for (let index = 0; index < copies.length; index += 1)
      if (!isSame(copies[index] as Message, messages[index])) return index;
    return copies.length;
  }

  /** Drops what was written from a message on, with the whole part that it is in. */
  #cut(index: number): void {
    this.#parts = this.#parts.filter(({ end }) => end <= index);
    this.#copies = this.#copies.slice(0, this.#parts.at(-1)?.end ?? 0);
    this.#ids = new CallIds(this.profile.callIds);
    for (const copy of this.#copies)
      if (copy.role === "assistant")
        for (const { id, function: called } of copy.tool_calls ?? []) this.#ids.next(id, called.name);
  }

  #keep(json: string): void {
    const end = this.#copies.length;
    const before = this.#parts.at(-1);
    if (before && before.json.length < minPartLength) {
      before.json = `${before.json},${json}`;
      before.end = end;
    } else this.#parts.push({ json: before ? `,${json}` : json, end });
  }

  #toJson(messages: readonly Message[]): string {
    return JSON.stringify(wireMessages(messages, this.profile, { ids: this.#ids })).slice(1, -1);
  }
}

interface Part {
  json: string;
  /** How many messages there are up to its end. */
  end: number;
}

/** Whether it cannot change, so that it needs no copy. */
function isFixed(message: Message): boolean {
  return Object.isFrozen(message) && Object.values(message).every((value) => typeof value === "string");
}

/** Whether a message is as it was. Field by field: a generic comparison takes as long as writing it. */
function isSame(copy: Message, message: Message | undefined): boolean {
  if (copy === message) return true;
  if (copy.role !== message?.role) return false;
  if (copy.content !== message.content && !sameJson(copy.content, message.content)) return false;
  // Others are written whole, with fields that only their server knows.
  if (copy.role === "tool" && message.role === "tool") return areSameResults(copy, message);
  if (copy.role !== "assistant" || message.role !== "assistant") return areSameFields(copy, message);
  return copy.reasoning === message.reasoning && areSameCalls(copy.tool_calls, message.tool_calls);
}

function areSameResults(copy: ToolMessage, message: ToolMessage): boolean {
  if (copy.tool_call_id !== message.tool_call_id || copy.name !== message.name) return false;
  const usual = copy.name === undefined ? 3 : 4;
  const areUsual = Object.keys(copy).length === usual && Object.keys(message).length === usual;
  return areUsual || sameJson(copy, message);
}

function areSameFields(copy: object, message: object): boolean {
  const count = Object.keys(message).length;
  return count === Object.keys(copy).length && (count === 2 || sameJson(copy, message));
}

function areSameCalls(copies: readonly ToolCall[] = [], calls: readonly ToolCall[] = []): boolean {
  if (copies.length !== calls.length) return false;
  for (let index = 0; index < copies.length; index += 1) {
    const copy = copies[index] as ToolCall;
    const call = calls[index] as ToolCall;
    if (copy.id !== call.id || copy.function.name !== call.function.name) return false;
    if (copy.function.arguments !== call.function.arguments) return false;
  }
  return true;
}
