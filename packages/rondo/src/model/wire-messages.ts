// Converts a conversation into the messages that model servers accept, which are stricter than their models.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { objectIn } from "../json/object-in.ts";
import type { AssistantMessage, Message, ToolCall, UserMessage } from "./message.ts";
import type { ModelProfile } from "./profile.ts";

type WireMessage = Readonly<Record<string, unknown>>;

interface WireOptions {
  /** Becomes part of the system message. Default: none. */
  readonly instruction?: string | undefined;
  /** Numbers the calls. Default: from the first. */
  readonly ids?: CallIds;
}

/** The messages for the wire. */
export function wireMessages(
  messages: readonly Message[],
  profile: ModelProfile,
  { instruction, ids = new CallIds(profile.callIds) }: WireOptions = {},
): WireMessage[] {
  const wire: WireMessage[] = [];
  for (const message of messages) {
    if (message.role === "assistant") wire.push(wireAssistant(message, profile, ids));
    else if (message.role === "tool") wire.push({ ...message, tool_call_id: ids.of(message.tool_call_id) });
    else if (message.role === "user" && wire.at(-1)?.["role"] === "user")
      wire.push(joined(wire.pop() as unknown as UserMessage, message));
    else if (message.role !== "system" || message.content !== "")
      wire.push(message as unknown as WireMessage);
  }
  return instruction === undefined ? wire : withInstruction(wire, instruction);
}

/** Joins a prompt that was never answered with the next one: many chat templates require alternating roles. */
function joined(first: UserMessage, second: UserMessage): WireMessage {
  const [one, other] = [first.content, second.content];
  if (typeof one === "string" && typeof other === "string")
    return { role: "user", content: `${one}\n\n${other}` };
  const parts = (content: UserMessage["content"]) =>
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  return { role: "user", content: [...parts(one), ...parts(other)] };
}

/** Many chat templates accept one system message, at the start. */
function withInstruction([first, ...rest]: WireMessage[], instruction: string): WireMessage[] {
  if (first?.["role"] === "system")
    return [{ ...first, content: `${String(first["content"])}\n\n${instruction}` }, ...rest];
  return [{ role: "system", content: instruction }, ...(first ? [first] : []), ...rest];
}

function wireAssistant(
  { content, tool_calls: calls = [], reasoning = "" }: AssistantMessage,
  { sendReasoning, thinkTags }: ModelProfile,
  ids: CallIds,
): WireMessage {
  // Some servers reject null, and some a message without content.
  const text = content ?? "";
  const message: Record<string, unknown> = { role: "assistant", content: text };
  if (reasoning !== "") {
    const [open, close] = thinkTags[0] ?? ["<think>", "</think>"];
    if (sendReasoning === "think-tags") message["content"] = `${open}\n${reasoning}\n${close}\n\n${text}`;
    else if (sendReasoning !== "none") message[sendReasoning] = reasoning;
  }
  // Many chat templates fail on invalid arguments, and would fail on every later request. The result of such a call
  // tells the model what was wrong. Written anew, arguments are the same bytes whoever kept the conversation.
  if (calls.length > 0)
    message["tool_calls"] = calls.map((call) => ({
      id: ids.next(call.id, call.function.name),
      type: "function",
      function: { name: call.function.name, arguments: rewritten(call) },
    }));
  return message;
}

/** The arguments of calls that were sent before: a conversation is sent again with each prompt. */
const known = new WeakMap<ToolCall, { readonly text: string; readonly rewritten: string }>();

function rewritten(call: ToolCall): string {
  const { arguments: text } = call.function;
  const before = known.get(call);
  if (before?.text === text) return before.rewritten;
  const now = JSON.stringify(objectIn(text) ?? {});
  known.set(call, { text, rewritten: now });
  return now;
}

/**
 * Numbers the calls of a conversation. Many chat templates write the ids of calls into the prompt, where random ones,
 * and one id in a run and another in the stored conversation, would keep a server from using its cache.
 */
export class CallIds {
  readonly #style: ModelProfile["callIds"];
  /** By the id in the conversation; a later answer may use an id again. */
  readonly #ids = new Map<string, string>();
  #count = 0;

  constructor(style: ModelProfile["callIds"]) {
    this.#style = style;
  }

  /** The id of the next call. */
  next(id: string, name: string): string {
    const number = this.#count++;
    // Nine letters and digits: the only ids that the templates of Mistral accept.
    const numbered =
      this.#style === "functions" ? `functions.${name}:${number}` : `call${`${number}`.padStart(5, "0")}`;
    this.#ids.set(id, numbered);
    return numbered;
  }

  /** The id of a result's call. */
  of(id: string): string {
    return this.#ids.get(id) ?? id;
  }
}

/** Refuses what is not a conversation. */
export function checkMessages(messages: readonly Message[]): void {
  const expected = "a list of messages";
  if (!Array.isArray(messages))
    throw new InvalidTypeError({ field: "messages", expected, received: messages });
  if (messages.length === 0)
    throw new InvalidArgumentError({
      field: "messages",
      expected: "at least one message",
      received: messages,
    });
  for (let index = 0; index < messages.length; index += 1) {
    const role = (messages[index] as { role?: unknown } | null)?.role;
    if (role === "assistant" || role === "tool" || role === "user" || role === "system") continue;
    throw new InvalidTypeError({
      field: `messages[${index}]`,
      expected: "a message with a role (system, user, assistant, tool)",
      received: messages[index],
    });
  }
}
