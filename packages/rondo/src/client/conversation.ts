// The messages of a client, and who answers each open call: the user, or Rondo.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { isPlainObject } from "../error/check.ts";
import { objectIn } from "../json/object-in.ts";
import { PromptWatch } from "../loop/prompt-watch.ts";
import { failure, toToolMessage } from "../loop/tool-result.ts";
import { unansweredCalls } from "../loop/unanswered.ts";
import { estimateTokens } from "../model/estimate-tokens.ts";
import type { Message, ToolCall, ToolMessage, UserMessage } from "../model/message.ts";
import { type TokenCalibration, tokenCalibration } from "../model/token-calibration.ts";
import { UnknownToolCallError } from "./client-errors.ts";

const roles = ["system", "user", "assistant", "tool"];

/** The open calls of an answer, as of so many messages. */
interface OpenIds {
  readonly index: number;
  readonly answer: Message | undefined;
  readonly ids: Set<string>;
  messageCount: number;
}

export class Conversation {
  messages: Message[] = [];
  readonly promptWatch = new PromptWatch();
  /** Whether the last answer of the run under way has calls of the user's. */
  awaitsUser = false;
  /**
   * The calls of the last answer that Rondo answers: the loop those that it runs or rejects, the client those of the
   * tool that is the final answer. All others are the user's, by `addToolResult()`.
   */
  #ours = new Set<string>();
  /** Results of the loop whose errors are shown first. */
  #held: ToolMessage[] = [];
  #open: OpenIds | undefined;
  readonly #calibration = tokenCalibration();
  /** The last request whose tokens the server reported, and how many of the messages it had. */
  #measured: { readonly messageCount: number; readonly inputTokens: number } | undefined;

  /** The text of the last answer; empty if there is none since the last prompt. */
  get lastText(): string {
    const last = this.messages.findLast(({ role }) => role === "assistant" || role === "user");
    return last?.role === "assistant" ? (last.content ?? "") : "";
  }

  /** The calls that the user has to answer, in order. */
  get openCalls(): ToolCall[] {
    return unansweredCalls(this.messages).filter(({ id }) => !this.#ours.has(id));
  }

  /** Takes over the calls of the user's that are open. Gives whether there are any. */
  claimOpenCalls(): boolean {
    const open = this.openCalls;
    for (const { id } of open) this.#ours.add(id);
    return open.length > 0;
  }

  /** For a run that was accepted, with a prompt or as a continuation. */
  begin(prompt: UserMessage | undefined): void {
    this.awaitsUser = false;
    if (prompt) this.messages.push(prompt);
  }

  /** Adds a message of the loop. The result of a call is held until `releaseResults()`. */
  add(message: Message, isForUser: (call: ToolCall) => boolean): void {
    if (message.role === "tool") this.#held.push(message);
    else {
      this.messages.push(message);
      if (message.role !== "assistant") return;
      const calls = message.tool_calls ?? [];
      const ours = calls.filter((call) => !isForUser(call));
      this.#ours = new Set(ours.map(({ id }) => id));
      this.awaitsUser = ours.length < calls.length;
    }
  }

  /** Adds the held results. A late one, of a tool that was left behind, is dropped: its call is answered. */
  releaseResults(): void {
    if (this.#held.length === 0) return;
    const open = this.#openIds();
    for (const message of this.#held.splice(0))
      if (open.ids.delete(message.tool_call_id)) open.messageCount = this.messages.push(message);
  }

  /** The ids of the open calls. Kept from result to result: an answer may have hundreds of calls. */
  #openIds(): OpenIds {
    const { messages } = this;
    const known = this.#open;
    if (known && known.messageCount === messages.length && messages[known.index] === known.answer)
      return known;
    const index = messages.findLastIndex(({ role }) => role !== "tool");
    const ids = new Set(unansweredCalls(messages).map(({ id }) => id));
    this.#open = { index, answer: messages[index], ids, messageCount: messages.length };
    return this.#open;
  }

  /** Answers a call of the user's. */
  answer(id: string, content: unknown, name?: string): ToolCall {
    const call = this.openCalls.find((open) => open.id === id);
    if (!call)
      throw new UnknownToolCallError(
        id,
        this.openCalls.map((open) => open.id),
      );
    this.#put(call, content, name?.replaceAll(".", "__")); // as on the wire
    return call;
  }

  /** Answers a call of ours, unless it has its answer. */
  answerOurs(id: string, content: string): void {
    const call = unansweredCalls(this.messages).find((open) => open.id === id);
    if (call) this.#put(call, content);
  }

  /** Answers the open calls, ours or all, with an error. */
  failOpen(error: string, whose: "ours" | "all" = "ours"): void {
    this.releaseResults();
    for (const call of unansweredCalls(this.messages))
      if (whose === "all" || this.#ours.has(call.id))
        this.#put(call, failure(call.function.name, error).result);
  }

  #put({ id, function: called }: ToolCall, content: unknown, wireName = called.name): void {
    this.messages.push(toToolMessage({ id, wireName }, content));
  }

  replace(messages: unknown): void {
    if (!Array.isArray(messages))
      throw new InvalidTypeError({
        field: "messageHistory",
        expected: "a list of messages",
        received: messages,
      });
    for (const [index, message] of messages.entries())
      if (!isPlainObject(message) || !roles.includes(message["role"] as string))
        throw new InvalidTypeError({
          field: `messageHistory[${index}]`,
          expected: `a message whose role is one of ${roles.join(", ")}`,
          received: message,
        });
    this.messages = [...(messages as Message[])];
    this.#ours = new Set();
    this.#measured = undefined;
    this.promptWatch.forget();
  }

  /** Takes the tokens of the last answer's request, as the server counted them. */
  measure(inputTokens: number): void {
    // Neither the answer nor what follows it was sent.
    const messageCount = this.messages.findLastIndex(({ role }) => role === "assistant");
    if (messageCount >= 0) this.#measured = { messageCount, inputTokens };
  }

  /** How far estimates are off for this model. `preamble` was sent before the messages. */
  calibrate(preamble: () => readonly Message[]): TokenCalibration {
    // Lazy: to estimate a long history after each answer would cost more than the answer.
    if (this.#measured) {
      const { messageCount, inputTokens } = this.#measured;
      const sent = [...preamble(), ...this.messages.slice(0, messageCount)];
      this.#calibration.learn(estimateTokens(sent), inputTokens);
      this.#measured = undefined;
    }
    return this.#calibration;
  }
}

/** The arguments of a call as a value; empty if they are not an object. */
export function argumentsOf(call: ToolCall): Record<string, unknown> {
  return objectIn(call.function.arguments) ?? {};
}
