// The conversation as the model reads it: long results in part, and tools that it has to find first. Everybody else sees
// it as it is.

import type { Message } from "../model/message.ts";
import type { AnyTool, OpenAITool } from "../tool/tool.ts";
import type { RawCall } from "./check-call.ts";
import { DeferredTools, toDefer } from "./deferred-tools.ts";
import { ResultFitter, ResultIds, readerName, resultLimit, resultReader } from "./fit-results.ts";
import type { OfferedTools } from "./offered-tools.ts";
import type { LoopOptions } from "./options.ts";
import { callToolName, toolSearchName } from "./tool-search.ts";

export class PromptView {
  readonly #fitter: ResultFitter | undefined;
  readonly #ids = new ResultIds();
  /** What was shown so far. */
  readonly #views: Message[] = [];
  readonly #createReader: () => AnyTool;
  readonly #deferred: DeferredTools | undefined;
  readonly #shown: readonly AnyTool[];
  #definitions: readonly OpenAITool[] | undefined;
  #hasReader: boolean;

  constructor(tools: OfferedTools, options: LoopOptions, messages: () => readonly Message[]) {
    const { maxResultTokens, model } = options;
    const limit = resultLimit(maxResultTokens, model.profile.contextWindow);
    const reading = tools.freeName(readerName);
    this.#fitter = Number.isFinite(limit) ? new ResultFitter(limit, reading) : undefined;
    let reader: AnyTool | undefined;
    const fitter = () => this.#fitter ?? new ResultFitter(Number.MAX_SAFE_INTEGER, reading);
    const createReader = () => {
      reader ??= resultReader(reading, fitter, messages);
      return reader;
    };
    this.#createReader = createReader;
    const deferred = toDefer(tools.offered, options);
    const isHidden = new Set(deferred);
    const searches = options.hasToolSearch !== true;
    const names = {
      search: searches ? tools.freeName(toolSearchName) : toolSearchName,
      call: tools.freeName(callToolName),
    };
    this.#deferred =
      deferred.length > 0 || !searches ? new DeferredTools(deferred, names, searches) : undefined;
    this.#shown = [...tools.offered.filter((it) => !isHidden.has(it)), ...(this.#deferred?.tools ?? [])];
    // With a limit that somebody chose, the beginning of the prompt never changes.
    this.#hasReader = maxResultTokens !== undefined && this.#fitter !== undefined && this.#shown.length > 0;
    tools.addBuiltIn(reading, createReader);
    for (const own of this.#deferred?.tools ?? []) tools.addBuiltIn(own.wireName, () => own);
  }

  /**
   * The messages, each as the model reads it. The same objects and the same list each time, so that they can be
   * compared, and need not be written again: a run only adds messages.
   */
  messages(messages: readonly Message[]): readonly Message[] {
    if (!this.#fitter && !this.#deferred) return messages;
    for (let index = this.#views.length; index < messages.length; index += 1)
      this.#views.push(this.#viewOf(messages[index] as Message));
    return this.#views;
  }

  #viewOf(message: Message): Message {
    let view = message;
    if (message.role === "tool" && this.#fitter) view = this.#fitter.view(message, this.#ids.of(message));
    else if (message.role === "assistant") this.#ids.count(message);
    if (view !== message) this.#hasReader = true;
    return this.#deferred?.view(view) ?? view;
  }

  /** What the model is offered, after `messages()`. The reader comes last, once there is something to read on. */
  get definitions(): readonly OpenAITool[] {
    const count = this.#shown.length + (this.#hasReader ? 1 : 0);
    if (this.#definitions?.length !== count) {
      const all = this.#hasReader ? [...this.#shown, this.#createReader()] : this.#shown;
      this.#definitions = all.map((it) => it.toOpenAI());
    }
    return this.#definitions;
  }

  /** Whether the model sees the definition of a tool of this name. */
  isShown(wireName: string | undefined): boolean {
    return this.#shown.some((it) => it.wireName === wireName);
  }

  /** A call as it is checked and run. */
  unwrap(raw: RawCall): RawCall {
    return this.#deferred?.unwrap(raw) ?? raw;
  }
}
