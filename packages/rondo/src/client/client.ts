// A conversation with a model: prompts go in, blocks come out, and history is valid whatever happens.

import { checkPrompt } from "../agent/check-prompt.ts";
import { Run } from "../async/run.ts";
import { untilAborted } from "../async/until-aborted.ts";
import { InvalidArgumentError } from "../error/argument-errors.ts";
import { checkString } from "../error/check.ts";
import { SafeExecutionError } from "../error/execution-errors.ts";
import { warn } from "../error/logger.ts";
import { copyData } from "../json/copy.ts";
import type { LoopEvent, RunReason } from "../loop/events.ts";
import type { LoopOptions } from "../loop/options.ts";
import { run } from "../loop/run.ts";
import { addUsage } from "../loop/usage.ts";
import type { ContentPart, Message, UserMessage } from "../model/message.ts";
import type { ModelProvider, Usage } from "../model/provider.ts";
import type { InputSchema } from "../tool/infer.ts";
import type { AnyTool } from "../tool/tool.ts";
import { withSubtools } from "../turn/turn-options.ts";
import { BlockReader } from "./block-reader.ts";
import type { Block, ToolUseBlock } from "./blocks.ts";
import { InvalidOutputError, MaxTurnsError, UnansweredToolCallsError } from "./client-errors.ts";
import {
  type CheckedOptions,
  type ClientOptions,
  checkClientOptions,
  type ShapedBy,
} from "./client-options.ts";
import { argumentsOf, Conversation } from "./conversation.ts";
import { HookRunner } from "./hook-runner.ts";
import { loopOptions } from "./loop-options.ts";
import { StructuredOutput } from "./structured-output.ts";
import type { TokenCalibration } from "./token-calibration.ts";

/** What a run has led to. */
export interface RunResult<Output = unknown> {
  /** The text of the last answer. */
  readonly text: string;
  /** The answer in the shape of the `output` option, if there is one. */
  readonly output: Output | undefined;
  /** The tokens of this run, if the server told. */
  readonly usage: Usage | undefined;
  readonly stopReason: RunReason;
}

/** One run, from a prompt to the end of the answers to it. */
interface ActiveRun {
  readonly events: Run<LoopEvent>;
  /** What had come when the request was accepted. */
  readonly first: LoopEvent[];
  /** What the first try has cost, where this is the second. */
  readonly firstTry: { readonly usage: Usage | undefined } | undefined;
  /** Aborted when the run is left or interrupted: nobody waits for its hooks any more. */
  readonly left: AbortController;
  /** Whether the model has said all of its answer, and only its calls are still open. */
  isAnswered: boolean;
}

/** Talks with a model over many turns. One run at a time. */
export class Client<const S extends InputSchema | undefined = undefined> implements AsyncDisposable {
  readonly #options: CheckedOptions;
  readonly #output: StructuredOutput | undefined;
  readonly #conversation = new Conversation();
  readonly #hooks: HookRunner;
  #turnCount = 0;
  #usage: Usage | undefined;
  #result: RunResult | undefined;
  #active: ActiveRun | undefined;
  /** Set while query() is on its way; aborted when it is interrupted. */
  #starting: AbortController | undefined;
  #interruption: Promise<void> | undefined;
  #isReceiving = false;
  #wasAsked = false;
  #isInterrupted = false;

  constructor(options: ClientOptions<S>) {
    this.#options = checkClientOptions(options);
    const { output, model, hooks } = this.#options;
    this.#hooks = new HookRunner(hooks, () => this.history);
    this.#output = output && new StructuredOutput(output, model.profile.outputMode);
    run([], this.#loopOptions()); // checks the names of the tools; nothing runs before it is iterated
  }

  get model(): ModelProvider {
    return this.#options.model;
  }

  /** The names of the tools that the model is offered; of sources, those that the last run had. */
  get toolNames(): string[] {
    return this.#offeredTools().map(({ name }) => name);
  }

  /** A copy of the conversation, without the system prompt. */
  get history(): Message[] {
    return copyData(this.#conversation.messages);
  }

  /** The conversation itself. Assign to replace it, to cut it short for example. */
  get messageHistory(): Message[] {
    return this.#conversation.messages;
  }
  set messageHistory(messages: readonly Message[]) {
    this.#checkIdle("replace messageHistory", this.#interruption !== undefined);
    void this.calibration; // learns from the messages that go
    this.#conversation.replace(messages);
  }

  get turnMetadata(): { turnCount: number; maxTurns: number } {
    return { turnCount: this.#turnCount, maxTurns: this.#options.maxTurns };
  }

  /** The calls of the model that have no result yet, in manual mode. */
  get openCalls(): ToolUseBlock[] {
    return this.#conversation.openCalls.map((call) => ({
      type: "tool_use",
      id: call.id,
      name: this.#toolName(call.function.name),
      input: argumentsOf(call),
    }));
  }

  /** All tokens so far, as far as the server told; `undefined` if it never did. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  /**
   * What this model's tokens are like, learned from what its server reports:
   * `estimateTokens(client.history, { calibration: client.calibration })`.
   */
  get calibration(): TokenCalibration {
    const content = JSON.stringify(this.#offeredTools().map((it) => it.toOpenAI()));
    return this.#conversation.calibrate([...this.#systemMessages(), { role: "system", content }]);
  }

  /** What the last run has led to; `undefined` before its end. */
  get result(): RunResult<ShapedBy<S>> | undefined {
    return this.#result as RunResult<ShapedBy<S>> | undefined;
  }

  /** Why the last run has ended. */
  get stopReason(): RunReason | undefined {
    return this.#result?.stopReason;
  }

  /**
   * Sends a prompt; `receiveMessages()` gives the answer. The prompt enters history once the server has accepted
   * it: a request that fails throws here and changes nothing. An empty prompt goes on after tool results.
   */
  async query(prompt: string | ContentPart[]): Promise<void> {
    const isContinuation = prompt === "";
    if (this.#starting || !(isContinuation && this.#active?.isAnswered))
      this.#checkIdle("start another query");
    const starting = new AbortController();
    this.#starting = starting;
    try {
      await this.#interruption?.catch(() => {}); // whoever interrupted hears of it
      this.#checkQuery(prompt);
      if (isContinuation && this.#active) await this.#readOut(this.#active);
      const content = isContinuation ? "" : await this.#submit(prompt, starting.signal);
      await this.#renewTools(starting.signal);
      if (starting.signal.aborted) {
        this.#wasAsked = true;
        this.#isInterrupted = true;
        return;
      }
      const isAccepted = await this.#start(isContinuation ? undefined : { role: "user", content });
      if (isAccepted && !isContinuation) this.#turnCount += 1;
    } finally {
      this.#starting = undefined;
    }
  }

  /**
   * The blocks of the answer, as they come. In automatic mode tools run on the way. In manual mode you run them:
   * give each call its result with `addToolResult()` and go on with `query("")`, also inside the loop.
   * Leaving the loop closes the connection and aborts the tools; what had come is in history.
   */
  receiveMessages(): Run<Block> {
    if (!this.#wasAsked) throw new SafeExecutionError("There is nothing to receive yet: call query() first.");
    return new Run((signal) => this.#blocks(signal), { graceMs: this.#options.graceMs });
  }

  /** Gives a call its result. Strings are sent as they are, everything else as JSON. */
  async addToolResult(toolUseId: string, content: unknown, name?: string): Promise<void> {
    checkString("toolUseId", toolUseId);
    if (name !== undefined) checkString("name", name);
    const call = this.#conversation.answer(toolUseId, content, name);
    const toolName = name ?? this.#toolName(call.function.name);
    await this.#hooks.afterCall({ toolName, toolInput: argumentsOf(call), toolUseId, toolResult: content });
  }

  /** Ends the run under way, if there is one: the connection closes, tools are aborted, text so far is kept. */
  async interrupt(): Promise<void> {
    const active = this.#active;
    const starting = this.#starting;
    if (!active && !starting) return this.#interruption;
    starting?.abort();
    this.#isInterrupted = true;
    this.#active = undefined;
    this.#interruption = this.#end(active, starting !== undefined).finally(() => {
      this.#interruption = undefined;
    });
    await this.#interruption;
  }

  async #end(active: ActiveRun | undefined, isStarting: boolean): Promise<void> {
    active?.left.abort();
    await active?.events.return();
    this.#conversation.releaseResults();
    this.#conversation.failAll("cancelled");
    this.#finish("aborted", undefined, undefined, isStarting ? "" : undefined);
  }

  /** Ends what is under way. The client can still be used. */
  async close(): Promise<void> {
    await this.interrupt();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #checkQuery(prompt: string | ContentPart[]): void {
    const { openCallIds, messages } = this.#conversation;
    if (openCallIds.length > 0) throw new UnansweredToolCallsError(openCallIds);
    if (prompt === "" && messages.length === 0)
      throw new InvalidArgumentError({
        field: "prompt",
        expected: "a prompt to begin with",
        received: prompt,
      });
    if (prompt !== "" && this.#turnCount >= this.#options.maxTurns)
      throw new MaxTurnsError(this.#options.maxTurns);
    checkPrompt(prompt);
    this.#options.signal?.throwIfAborted();
  }

  /** What the hooks make of a prompt; they are not waited for once the query is interrupted. */
  async #submit(prompt: string | ContentPart[], interrupted: AbortSignal): Promise<string | ContentPart[]> {
    const { signal } = this.#options;
    const asked = this.#hooks.submit(prompt);
    try {
      return await untilAborted(signal ? untilAborted(asked, signal) : asked, interrupted);
    } catch (error) {
      if (interrupted.aborted && error === interrupted.reason) return prompt;
      throw error;
    }
  }

  /** Asks the sources of tools what they have now; they are not waited for once the query is interrupted. */
  async #renewTools(interrupted: AbortSignal): Promise<void> {
    const { tools, signal } = this.#options;
    try {
      await tools.renew(signal ? AbortSignal.any([signal, interrupted]) : interrupted);
    } catch (error) {
      if (!interrupted.aborted) throw error;
    }
  }

  /**
   * Reads what is left of a run that the user goes on from: the model has said all, so that only its tokens and
   * what became of calls that cannot run are still to come.
   */
  async #readOut(active: ActiveRun): Promise<void> {
    for (let step = await active.events.next(); !step.done; step = await active.events.next())
      active.first.push(step.value);
    await active.events.return();
    this.#conversation.releaseResults();
    this.#conversation.failOwn("not used");
  }

  /** Starts a run and waits until the server has accepted the request; false if it was interrupted before. */
  async #start(message: UserMessage | undefined, firstTry?: ActiveRun["firstTry"]): Promise<boolean> {
    const { messages } = this.#conversation;
    const sent = [...this.#systemMessages(), ...messages, ...(message ? [message] : [])];
    const events = run(sent, this.#loopOptions());
    const active: ActiveRun = { events, first: [], firstTry, left: new AbortController(), isAnswered: false };
    this.#active = active;
    try {
      while (true) {
        const step = await events.next();
        if (step.done) break;
        active.first.push(step.value);
        if (step.value.type !== "warning") break;
      }
    } catch (error) {
      if (this.#active === active) this.#active = undefined;
      throw error;
    }
    if (active.first.at(-1)?.type === "run.finished") {
      // Aborted by the client's signal before the server has accepted anything.
      this.#active = undefined;
      this.#options.signal?.throwIfAborted();
    }
    this.#wasAsked = true;
    // While the server was still thinking about it.
    this.#isInterrupted = this.#active !== active || active.left.signal.aborted;
    if (this.#isInterrupted) return false;
    if (message) messages.push(message);
    this.#result = undefined;
    return true;
  }

  async *#blocks(signal: AbortSignal): AsyncGenerator<Block, void, void> {
    if (this.#isReceiving)
      throw new SafeExecutionError("The messages are being received already, in another loop.");
    this.#isReceiving = true;
    const leave = () => {
      this.#active?.left.abort();
      void this.#active?.events.return().catch(() => {});
    };
    signal.addEventListener("abort", leave);
    let hasFailed = false;
    try {
      for (let active = this.#active; active && !this.#isInterrupted; active = this.#active) {
        yield* this.#blocksOf(active);
        if (active.left.signal.aborted) break;
        // The same run is still the active one, unless query("") has started another in the loop's body.
        if (this.#active === active) this.#active = undefined;
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      signal.removeEventListener("abort", leave);
      this.#isReceiving = false;
      // Whoever is interrupted from elsewhere finds a history that is complete, and can ask again at once.
      await this.#interruption?.catch(() => {});
      const active = this.#active;
      if (active) {
        this.#active = undefined;
        await active.events.return();
        if (!hasFailed) this.#finish("aborted", undefined);
      }
      this.#conversation.releaseResults();
      this.#conversation.failOwn("cancelled");
    }
  }

  async *#blocksOf(active: ActiveRun): AsyncGenerator<Block, void, void> {
    const answerToolName = this.#output?.answerTool?.name;
    const reader = new BlockReader(answerToolName);
    const isCurrent = () => this.#active === active;
    const isLeft = () => active.left.signal.aborted;
    for (let event = active.first.shift(); event || isCurrent(); event = active.first.shift()) {
      if (!event) {
        const step = await active.events.next();
        if (step.done) return;
        event = step.value;
      }
      active.isAnswered ||= !this.#options.autoExecuteTools && event.type === "call.ready";
      const block = reader.read(event);
      if (block) {
        yield block;
        if (isLeft()) return;
      }
      if (event.type === "warning") warn(event.message);
      if (event.type === "model.finished" && event.usage) {
        this.#usage = addUsage(this.#usage, event.usage);
        this.#conversation.measure(event.usage.inputTokens);
      }
      if (event.type === "tool.finished") {
        this.#conversation.releaseResults();
        const { id, name, input, result, isError } = event;
        if (name === answerToolName) continue; // no tool of the user's
        const call = { toolName: name, toolInput: input, toolUseId: id, toolResult: result };
        const looksOn = this.#hooks.afterCall(call);
        if (looksOn)
          await untilAborted(looksOn, active.left.signal).catch((error: unknown) => {
            if (!isLeft()) throw error;
          });
        if (isLeft()) return;
        yield { type: "tool_result", tool_use_id: id, content: result, is_error: isError };
        if (isLeft()) return;
      }
      if (event.type === "run.finished") {
        if (!isCurrent()) return; // query("") has gone on from it
        await active.events.next(); // the end: leaving would abort what is over
        await this.#settle(active, event.reason, event.usage, reader);
        return;
      }
    }
  }

  /** Ends a run, or asks once more where the answer does not have the shape that was asked for. */
  async #settle(
    active: ActiveRun,
    reason: RunReason,
    usage: Usage | undefined,
    reader: BlockReader,
  ): Promise<void> {
    const output = this.#output;
    const total = addUsage(active.firstTry?.usage, usage);
    const { answerCall, answerProblem } = reader;
    const isAnswer =
      reason === "completed" || (reason === "client_calls" && (answerCall ?? answerProblem) !== undefined);
    if (!output || !isAnswer) {
      this.#finish(reason, total);
      return;
    }
    const text = answerCall ? JSON.stringify(answerCall.input) : this.#conversation.lastText;
    const parsed = answerCall
      ? await output.parseValue(answerCall.input)
      : reason === "client_calls"
        ? { problem: answerProblem as string }
        : await output.parseText(text);
    if (active.left.signal.aborted) return; // while the answer was checked
    if (answerCall)
      this.#conversation.answerOwn(answerCall.id, "problem" in parsed ? parsed.problem : "accepted");
    this.#conversation.failOwn("not used: the last one counts");
    if ("output" in parsed) this.#finish("completed", total, parsed.output, text);
    // Calls that are yours come first: the model, which was told what is wrong, answers again after them.
    else if (this.#conversation.openCallIds.length > 0) this.#finish("client_calls", total);
    else if (active.firstTry) {
      this.#finish(reason, total);
      throw new InvalidOutputError(parsed.problem, text);
    } else await this.#start({ role: "user", content: output.correction(parsed.problem) }, { usage });
  }

  #finish(
    stopReason: RunReason,
    usage: Usage | undefined,
    output?: unknown,
    text = this.#conversation.lastText,
  ): void {
    this.#result = { text, output, usage, stopReason };
  }

  #loopOptions(): LoopOptions {
    return loopOptions(this.#options, this.#output, this.#hooks, this.#conversation);
  }

  /** The name of a tool as it was defined, of the one that models know. */
  #toolName(wireName: string): string {
    return (
      this.#options.tools.all.flatMap(withSubtools).find((it) => it.wireName === wireName)?.name ?? wireName
    );
  }

  #offeredTools(): AnyTool[] {
    const { tools, isAllowed } = this.#options;
    return tools.all.flatMap(withSubtools).filter(isAllowed);
  }

  #systemMessages(): Message[] {
    const content = [this.#options.systemPrompt, this.#output?.instruction].filter(Boolean).join("\n\n");
    return content === "" ? [] : [{ role: "system", content }];
  }

  #checkIdle(what: string, isBusy = false): void {
    if (!this.#active && !this.#starting && !isBusy) return;
    throw new SafeExecutionError(
      `Cannot ${what} while an answer is under way. Receive it to its end, or interrupt() it first.`,
    );
  }
}
