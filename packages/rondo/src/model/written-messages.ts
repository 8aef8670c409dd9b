// The messages of a request as JSON. A loop sends the same list again and again, longer each time, and writing all of it
// would take as long as the rest of a round: so the JSON of what was sent before is kept.

import { copyData } from "../json/copy.ts";
import { sameJson } from "../json/same-json.ts";
import type { Message, ToolCall } from "./message.ts";
import type { ModelProfile } from "./profile.ts";
import { CallIds, checkMessages, wireMessages } from "./wire-messages.ts";

/** Shorter parts are put together: a part has a cost too. */
const minPartLength = 16_384;

/** By the list. Most are sent once, and nothing but that is kept of them. */
const lists = new WeakMap<readonly Message[], WrittenMessages | "sent once">();

/** The messages for the wire, as parts of JSON. An `instruction` becomes part of the system message. */
export function messagesJson(
  messages: readonly Message[],
  profile: ModelProfile,
  instruction?: string,
): readonly string[] {
  checkMessages(messages);
  const known = instruction === undefined ? lists.get(messages) : undefined;
  if (!known) {
    lists.set(messages, "sent once");
    return [JSON.stringify(wireMessages(messages, profile, { instruction }))];
  }
  const isUsable = known !== "sent once" && known.isBeginningOf(messages, profile);
  const written = isUsable ? known : new WrittenMessages(profile);
  lists.delete(messages); // what cannot be written as JSON leaves it half done
  const json = written.extend(messages);
  lists.set(messages, written);
  return json;
}

/** The beginning of a list, up to its last answer or result: a prompt may still be joined with the next one. */
class WrittenMessages {
  readonly #profile: ModelProfile;
  readonly #ids: CallIds;
  /** The messages as they were written. */
  readonly #copies: Message[] = [];
  /** Their JSON after the bracket, in parts: one long text would be copied with each request. */
  readonly #parts: string[] = [];

  constructor(profile: ModelProfile) {
    this.#profile = profile;
    this.#ids = new CallIds(profile.callIds);
  }

  /** Whether the list still begins with what was written: somebody may have changed a message. */
  isBeginningOf(messages: readonly Message[], profile: ModelProfile): boolean {
    if (profile !== this.#profile) return false;
    return this.#copies.every((copy, index) => isSame(copy, messages[index]));
  }

  /** Writes what is new. Gives all messages. */
  extend(messages: readonly Message[]): readonly string[] {
    const end = messages.findLastIndex(({ role }) => role === "assistant" || role === "tool") + 1;
    const added = messages.slice(this.#copies.length, end);
    if (added.length > 0) {
      this.#keep(this.#write(added));
      for (const message of added) this.#copies.push(copyData(message));
    }
    const last = this.#write(messages.slice(end));
    const comma = this.#parts.length > 0 && last !== "" ? "," : "";
    return ["[", ...this.#parts, `${comma}${last}]`];
  }

  #keep(json: string): void {
    const last = this.#parts.length - 1;
    const before = this.#parts[last];
    if (json === "") return;
    if (before === undefined) this.#parts.push(json);
    else if (before.length < minPartLength) this.#parts[last] = `${before},${json}`;
    else this.#parts.push(`,${json}`);
  }

  #write(messages: readonly Message[]): string {
    return JSON.stringify(wireMessages(messages, this.#profile, { ids: this.#ids })).slice(1, -1);
  }
}

/** Whether a message is as it was. Field by field: a generic comparison takes as long as writing it. */
function isSame(copy: Message, message: Message | undefined): boolean {
  if (copy.role !== message?.role) return false;
  if (copy.content !== message.content && !sameJson(copy.content, message.content)) return false;
  if (copy.role === "tool" && message.role === "tool")
    return copy.tool_call_id === message.tool_call_id && copy.name === message.name;
  // A prompt is written whole, with fields that only its server knows.
  if (copy.role !== "assistant" || message.role !== "assistant") return areSameFields(copy, message);
  return copy.reasoning === message.reasoning && areSameCalls(copy.tool_calls, message.tool_calls);
}

function areSameFields(copy: object, message: object): boolean {
  const count = Object.keys(message).length;
  return count === Object.keys(copy).length && (count === 2 || sameJson(copy, message));
}

function areSameCalls(copies: readonly ToolCall[] = [], calls: readonly ToolCall[] = []): boolean {
  return (
    copies.length === calls.length &&
    copies.every(({ id, function: { name, arguments: text } }, index) => {
      const call = calls[index] as ToolCall;
      return id === call.id && name === call.function.name && text === call.function.arguments;
    })
  );
}
