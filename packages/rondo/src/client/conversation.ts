// What a client remembers: the messages, and what the server has told about their tokens.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { isPlainObject } from "../error/check.ts";
import { objectIn } from "../json/object-in.ts";
import { failure, toToolMessage } from "../loop/tool-result.ts";
import { unansweredCalls } from "../loop/unanswered.ts";
import type { Message, ToolCall, ToolMessage } from "../model/message.ts";
import { UnknownToolCallError } from "./client-errors.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { type TokenCalibration, tokenCalibration } from "./token-calibration.ts";

const roles = ["system", "user", "assistant", "tool"];

export class Conversation {
  #messages: Message[] = [];
  /** Results that belong to the conversation, but whose errors are told first. */
  #held: ToolMessage[] = [];
  /** The calls of the last answer that the client itself answers: they run here, cannot run, or are the answer. */
  #own = new Set<string>();
  /** The calls of the last answer whose results are still to come, from wherever. */
  #awaited = new Set<string>();
  readonly #calibration = tokenCalibration();
  /** The last request whose tokens the server has told, and how many of the messages it had. */
  #measured: { readonly messageCount: number; readonly inputTokens: number } | undefined;

  get messages(): Message[] {
    return this.#messages;
  }

  /** The text of the last answer; empty if there is none since the last prompt. */
  get lastText(): string {
    const last = this.#messages.findLast(({ role }) => role === "assistant" || role === "user");
    return last?.role === "assistant" ? (last.content ?? "") : "";
  }

  /** The calls that wait for a result of the user's, in order. */
  get openCalls(): ToolCall[] {
    return unansweredCalls(this.#messages).filter(({ id }) => !this.#own.has(id));
  }

  get openCallIds(): string[] {
    return this.openCalls.map(({ id }) => id);
  }

  /** Takes a message of the loop. The result of a call waits until it is released. */
  add(message: Message, isYours: (call: ToolCall) => boolean): void {
    if (message.role === "tool") this.#held.push(message);
    else {
      this.#messages.push(message);
      if (message.role !== "assistant") return;
      const calls = message.tool_calls ?? [];
      this.#own = new Set(calls.filter((call) => !isYours(call)).map(({ id }) => id));
      this.#awaited = new Set(calls.map(({ id }) => id));
    }
  }

  /** What comes too late, from a tool that was left behind, is dropped: its call has its answer. */
  releaseResults(): void {
    for (const message of this.#held)
      if (this.#awaited.delete(message.tool_call_id)) this.#messages.push(message);
    this.#held = [];
  }

  /** Gives an open call its result. */
  answer(id: string, content: unknown, name?: string): ToolCall {
    const call = this.openCalls.find((open) => open.id === id);
    if (!call) throw new UnknownToolCallError(id, this.openCallIds);
    // On the wire, a name has no dots.
    const wireName = name?.replaceAll(".", "__") ?? call.function.name;
    this.#put({ id, wireName }, content);
    return call;
  }

  /** Gives a call that the client answers itself its result. */
  answerOwn(id: string, content: string): void {
    const call = unansweredCalls(this.#messages).find((open) => open.id === id);
    if (call) this.#put({ id, wireName: call.function.name }, content);
  }

  /** Fails the calls that the client answers itself and that have no result yet. */
  failOwn(error: string): void {
    for (const call of unansweredCalls(this.#messages)) if (this.#own.has(call.id)) this.#fail(call, error);
  }

  /** Fails every call that has no result yet. */
  failAll(error: string): void {
    for (const call of unansweredCalls(this.#messages)) this.#fail(call, error);
  }

  #fail(call: ToolCall, error: string): void {
    const { name } = call.function;
    this.#put({ id: call.id, wireName: name }, failure(name, error).result);
  }

  #put(call: { readonly id: string; readonly wireName: string }, content: unknown): void {
    this.#awaited.delete(call.id);
    this.#messages.push(toToolMessage(call, content));
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
    this.#messages = [...(messages as Message[])];
    this.#own = new Set();
    this.#awaited = new Set();
    this.#measured = undefined;
  }

  /** Notes what the last answer's request has cost. */
  measure(inputTokens: number): void {
    // The answer itself was not sent, nor what has followed it since.
    const messageCount = this.#messages.findLastIndex(({ role }) => role === "assistant");
    if (messageCount >= 0) this.#measured = { messageCount, inputTokens };
  }

  /** What the model's tokens are like. `preamble` is what was sent before the messages. */
  calibrate(preamble: readonly Message[]): TokenCalibration {
    // Worked out when it is asked for: estimating a long history at each answer would cost more than the answer.
    if (this.#measured) {
      const { messageCount, inputTokens } = this.#measured;
      const sent = [...preamble, ...this.#messages.slice(0, messageCount)];
      this.#calibration.learn(estimateTokens(sent), inputTokens);
      this.#measured = undefined;
    }
    return this.#calibration;
  }
}

/** The arguments of a call as a value, for those who look on. */
export function argumentsOf(call: ToolCall): Record<string, unknown> {
  return objectIn(call.function.arguments) ?? {};
}
