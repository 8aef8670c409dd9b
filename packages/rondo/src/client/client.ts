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
import { run as runLoop } from "../loop/run.ts";
import type { ContentPart, Message, UserMessage } from "../model/message.ts";
import type { ModelProvider, Usage } from "../model/provider.ts";
import type { TokenCalibration } from "../model/token-calibration.ts";
import { addUsage } from "../model/usage.ts";
import type { InputSchema } from "../tool/infer.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { ToolSource } from "../tool/tool-source.ts";
import { withSubtools } from "../turn/turn-options.ts";
import { type Block, BlockReader, type ToolUseBlock } from "./blocks.ts";
import { InvalidOutputError, MaxTurnsError, UnansweredToolCallsError } from "./client-errors.ts";
import {
  type CheckedOptions,
  type ClientOptions,
  checkClientOptions,
  type ShapedBy,
} from "./client-options.ts";
import { ClientSession } from "./client-session.ts";
import { argumentsOf, Conversation } from "./conversation.ts";
import { HookRunner } from "./hook-runner.ts";
import { type ClientRun, Lifecycle, type Running, type Starting } from "./lifecycle.ts";
import { loopOptions } from "./loop-options.ts";
import { StructuredOutput } from "./structured-output.ts";

/** The result of a run. With an `output` schema, a run that completed has an output of that shape. */
export type RunResult<Output = unknown> = {
  /** The text of the last answer. */
  readonly text: string;
  /** The tokens of this run, if the server reported them. */
  readonly usage: Usage | undefined;
  /** What was noticed on the way, such as a shape that could only be asked for in words. Only if there is something. */
  readonly warnings?: readonly string[];
} & (
  | { readonly stopReason: "completed"; readonly output: Output }
  | { readonly stopReason: Exclude<RunReason, "completed">; readonly output: undefined }
);

type RunFinished = Extract<LoopEvent, { type: "run.finished" }>;

/**
 * Talks with a model over many turns. One run at a time. `S` is the schema of its output, `T` the union of its tools;
 * both are inferred.
 */
export class Client<
  const S extends InputSchema | undefined = undefined,
  T extends AnyTool | ToolSource = AnyTool | ToolSource,
> implements AsyncDisposable
{
  readonly #options: CheckedOptions;
  readonly #output: StructuredOutput | undefined;
  readonly #conversation = new Conversation();
  readonly #hooks: HookRunner;
  readonly #life = new Lifecycle();
  readonly #session: ClientSession | undefined;
  #turnCount = 0;
  #usage: Usage | undefined;
  #result: RunResult | undefined;
  /** Those of the run under way. */
  #warnings: string[] = [];

  constructor(options: ClientOptions<S, T>) {
    this.#options = checkClientOptions(options);
    const { output, model, hooks } = this.#options;
    this.#hooks = new HookRunner(hooks, () => this.history);
    this.#session = ClientSession.of(this.#options);
    this.#output = output && new StructuredOutput(output, () => model.profile);
    // Checks the names of the tools; nothing runs before it is iterated.
    runLoop([], loopOptions(this.#options, this.#output, this.#hooks, this.#conversation));
  }

  get model(): ModelProvider {
    return this.#options.model;
  }

  /** The names of the tools that the model is offered, with those that sources offered to the last run. */
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
    this.#life.checkResting("replace messageHistory");
    if (this.#session?.isPending)
      throw new SafeExecutionError("The session is not loaded yet: await client.loadSession() first.");
    void this.calibration; // learns from the messages that go
    this.#conversation.replace(messages);
  }

  /** The id of the session, to resume it with; undefined if nothing is stored. */
  get sessionId(): string | undefined {
    return this.#session?.id;
  }

  get turnMetadata(): { turnCount: number; maxTurns: number } {
    return { turnCount: this.#turnCount, maxTurns: this.#options.maxTurns };
  }

  /** The calls of the model that have no result yet, in manual mode. */
  get openCalls(): ToolUseBlock<T>[] {
    const blocks = this.#conversation.openCalls.map(
      (call): ToolUseBlock => ({
        type: "tool_use",
        id: call.id,
        name: this.#toolName(call.function.name),
        input: argumentsOf(call),
      }),
    );
    return blocks as ToolUseBlock<T>[];
  }

  /** All tokens so far, as far as the server reported them; `undefined` if it never did. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  /**
   * How far estimates are off for this model, learned from what its server reports:
   * `estimateTokens(client.history, { calibration: client.calibration })`.
   */
  get calibration(): TokenCalibration {
    return this.#conversation.calibrate(() => {
      const content = JSON.stringify(this.#offeredTools().map((it) => it.toOpenAI()));
      return [...this.#systemMessages(), { role: "system", content }];
    });
  }

  /** The result of the last run; `undefined` before its end. */
  get result(): RunResult<ShapedBy<S>> | undefined {
    return this.#result as RunResult<ShapedBy<S>> | undefined;
  }

  /** Why the last run ended. */
  get stopReason(): RunReason | undefined {
    return this.#result?.stopReason;
  }

  /**
   * Loads the conversation of the session, to look at it before the first `query()`, which otherwise does it. Throws
   * an `UnknownSessionError` if there is none, and a `SessionLockedError` if another client writes to it.
   */
  async loadSession(): Promise<void> {
    const messages = await this.#session?.load();
    if (!messages) return;
    this.#conversation.replace(messages);
    // The process died before this was recorded; the answer itself is in the conversation.
    const answerTool = this.#output?.answerTool?.wireName;
    for (const { id, function: called } of this.#conversation.openCalls)
      if (called.name === answerTool) this.#conversation.answerOurs(id, "accepted");
  }

  /**
   * Sends a prompt; `receiveMessages()` gives the answer. The prompt enters history once the server has accepted
   * it: a request that fails throws here and changes nothing. An empty prompt continues after tool results.
   */
  async query(prompt: string | ContentPart[]): Promise<void> {
    const starting = this.#life.start(prompt === "" && this.#conversation.awaitsUser);
    const continued = starting.previous.run;
    const next = this.#start(starting, prompt);
    if (continued) continued.continuation = next.catch(() => undefined);
    await next;
  }

  /**
   * The blocks of the answer, as they come. In automatic mode tools run on the way. In manual mode you run them:
   * give each call its result with `addToolResult()` and continue with `query("")`, also inside the loop.
   * Leaving the loop closes the connection and aborts the tools; history keeps what was received.
   */
  receiveMessages(): Run<Block<T>> {
    this.#life.receivable();
    const run = new Run((signal) => this.#blocks(signal), { graceMs: this.#options.graceMs });
    return run as Run<Block<T>>;
  }

  /** Gives a call its result. Strings are sent as they are, everything else as JSON. */
  async addToolResult(toolUseId: string, content: unknown, name?: string): Promise<void> {
    checkString("toolUseId", toolUseId);
    if (name !== undefined) checkString("name", name);
    const call = this.#conversation.answer(toolUseId, content, name);
    await this.#save();
    const toolName = name ?? this.#toolName(call.function.name);
    await this.#hooks.afterCall({ id: toolUseId, name: toolName, input: argumentsOf(call), result: content });
  }

  /** Ends the run under way, if there is one: the connection closes, tools are aborted, text so far is kept. */
  async interrupt(): Promise<void> {
    await this.#life.stop((state) => this.#end(state, "all"));
  }

  /** Ends what is under way, and lets others write to the session. The client can still be used. */
  async close(): Promise<void> {
    await this.interrupt();
    try {
      if (!this.#session?.isPending) await this.#save();
    } finally {
      await this.#session?.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Starts a run with a prompt; gives nothing if it is interrupted before the server accepts it. */
  async #start(starting: Starting, prompt: string | ContentPart[]): Promise<ClientRun | undefined> {
    const interrupted = starting.interrupted.signal;
    try {
      await starting.after?.catch(() => {}); // the caller of interrupt() gets the error
      if (interrupted.aborted) return undefined;
      await this.loadSession();
      this.#checkQuery(prompt);
      if (starting.previous.run) {
        // The answer is complete: only its usage and the results of rejected calls are still to come.
        for await (const event of starting.previous.run.events) starting.previous.run.buffer.push(event);
        this.#conversation.failOpen("not used");
      }
      const message = await this.#prepare(prompt, interrupted);
      await this.#save();
      if (interrupted.aborted) return undefined;
      const run = await this.#request(starting, message);
      if (run && message) this.#turnCount += 1;
      return run;
    } catch (error) {
      this.#life.cancelStart(starting);
      throw error;
    }
  }

  #checkQuery(prompt: string | ContentPart[]): void {
    const { openCalls, messages } = this.#conversation;
    // In automatic mode, calls that a loaded conversation ends in are run first.
    if (openCalls.length > 0 && !this.#options.autoExecuteTools)
      throw new UnansweredToolCallsError(openCalls.map(({ id }) => id));
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

  /** Calls the hooks of a prompt and asks the tool sources; an interrupt waits for neither. */
  async #prepare(prompt: string | ContentPart[], interrupted: AbortSignal): Promise<UserMessage | undefined> {
    const { tools, signal, model } = this.#options;
    const aborted = signal ? AbortSignal.any([signal, interrupted]) : interrupted;
    try {
      const content = prompt === "" ? "" : await untilAborted(this.#hooks.submit(prompt), aborted);
      await tools.renew(aborted);
      // How a shape is asked for depends on the server.
      if (this.#output) await model.learn?.({ signal: aborted });
      return prompt === "" ? undefined : { role: "user", content };
    } catch (error) {
      if (!interrupted.aborted) throw error;
      return undefined;
    }
  }

  /** Sends a request and waits until the server accepts it; gives nothing if it is interrupted before. */
  async #request(
    starting: Starting,
    message: UserMessage | undefined,
    firstTry?: ClientRun["firstTry"],
  ): Promise<ClientRun | undefined> {
    const options = loopOptions(this.#options, this.#output, this.#hooks, this.#conversation);
    const sent = [...this.#systemMessages(), ...this.#conversation.messages];
    // Open calls are answered first, and then the prompt is added.
    const isAddedLater = this.#conversation.claimOpenCalls();
    if (message && isAddedLater) options.prompt = message;
    else if (message) sent.push(message);
    const onUsage = (usage: Usage) => {
      run.usage = addUsage(run.usage, usage);
      this.#usage = addUsage(this.#usage, usage);
    };
    options.onUsage = onUsage;
    const run: ClientRun = {
      events: runLoop(sent, options),
      buffer: [],
      reader: new BlockReader(this.#output?.answerTool?.name),
      left: new AbortController(),
      firstTry,
    };
    starting.run = run;
    do {
      const step = await run.events.next();
      if (step.done) break; // interrupted
      run.buffer.push(step.value);
    } while (run.buffer.at(-1)?.type === "warning");
    if (run.buffer.at(-1)?.type === "run.finished") this.#options.signal?.throwIfAborted();
    if (!this.#life.accept(starting, run)) return undefined;
    this.#conversation.begin(isAddedLater ? undefined : message);
    this.#result = undefined;
    if (!firstTry) this.#warnings = [];
    return run;
  }

  async *#blocks(signal: AbortSignal): AsyncGenerator<Block, void, void> {
    const state = this.#life.receivable();
    if (state.name === "stopping") await state.done.catch(() => {});
    let { run } = state;
    if (run?.receiver)
      throw new SafeExecutionError("The messages are being received already, in another loop.");
    const receiver = {};
    if (run) run.receiver = receiver;
    let hasFailed = false;
    const leave = () => this.#life.stop((it) => this.#end(it, "ours", hasFailed), receiver).catch(() => {});
    const onAbort = () => void leave();
    signal.addEventListener("abort", onAbort);
    try {
      while (run && !run.left.signal.aborted) {
        let event = run.buffer.shift();
        if (!event) {
          const step = await run.events.next();
          if (step.done) break;
          event = step.value;
        }
        // Before anyone hears of it, and before the tools that it calls are started.
        if (this.#isUnsaved) await this.#save();
        const block = run.reader.read(event);
        if (block) yield block;
        if (run.left.signal.aborted) break;
        switch (event.type) {
          case "warning":
          case "prompt.changed":
          case "prompt.cut":
            warn(event.message);
            this.#warnings.push(event.message);
            break;
          case "model.finished":
            if (event.usage && !event.usage.estimated) this.#conversation.measure(event.usage.inputTokens);
            break;
          case "tool.finished": {
            this.#conversation.releaseResults();
            if (this.#isUnsaved) await this.#save();
            if (event.name === this.#output?.answerTool?.name) break; // not a tool of the user's
            if (this.#hooks.hasAfterCall) await this.#hooks.afterCall(event, run.left.signal);
            const result = run.reader.readResult(event);
            if (result && !run.left.signal.aborted) yield result;
            break;
          }
          case "run.finished":
            run = await this.#settle(run, event);
            await this.#save();
            break;
          default:
        }
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      if (run) await leave(); // also waits for an interrupt from elsewhere: then history is complete
    }
  }

  /** Ends a run that is over. Gives the run that continues it: the user's, or a second try for a valid output. */
  async #settle(run: ClientRun, end: RunFinished): Promise<ClientRun | undefined> {
    await run.events.next(); // the end: leaving would abort what is over
    const answer = await this.#output?.read(end.reason, run.reader, this.#conversation.lastText);
    for (let pending = run.continuation; pending; pending = run.continuation) {
      const next = await pending;
      if (next) return next;
      if (run.continuation === pending) run.continuation = undefined; // its request failed
    }
    if (run.left.signal.aborted) return run; // the loop waits for its stop
    const usage = addUsage(run.firstTry?.usage, end.usage);
    if (!answer) return this.#finish(end.reason, usage);
    const { answerCall } = run.reader;
    if (answerCall)
      this.#conversation.answerOurs(answerCall.id, "problem" in answer ? answer.problem : "accepted");
    this.#conversation.failOpen("not used: the last one counts");
    if ("output" in answer) return this.#finish("completed", usage, answer);
    // The user's calls come first: after them, the model answers again and knows what was wrong.
    if (this.#conversation.openCalls.length > 0) return this.#finish("client_calls", usage);
    if (!run.firstTry)
      return this.#request(this.#life.start(true), { role: "user", content: answer.correction }, { usage });
    this.#finish(end.reason, usage);
    this.#result = undefined; // as of any run that failed
    throw new InvalidOutputError(answer.problem, answer.text);
  }

  #finish(
    stopReason: RunReason,
    usage: Usage | undefined,
    answer?: { text: string; output: unknown },
  ): undefined {
    this.#conversation.failOpen("cancelled");
    this.#result = {
      text: this.#conversation.lastText,
      output: undefined,
      ...answer,
      usage,
      stopReason,
      ...(this.#warnings.length > 0 && { warnings: this.#warnings }),
    } as RunResult;
    this.#life.finish();
  }

  /** Stops a run, or a query under way. Leaving the loop keeps the user's calls open; an interrupt cancels them. */
  async #end(state: Starting | Running, cancels: "ours" | "all", hasFailed = false): Promise<void> {
    const isStarting = state.name === "starting";
    if (isStarting) state.interrupted.abort();
    const runs = isStarting ? [state.run, state.previous.run] : [state.run];
    for (const run of runs) run?.left.abort();
    try {
      await Promise.all(runs.map(async (run) => run?.events.return()));
      if (isStarting) await state.after?.catch(() => {});
    } finally {
      this.#conversation.failOpen("cancelled", cancels);
      const text = isStarting && !state.run?.firstTry ? "" : this.#conversation.lastText;
      const run = isStarting ? (state.run ?? state.previous.run) : state.run;
      const usage = addUsage(run?.firstTry?.usage, run?.usage);
      if (!hasFailed) this.#result = { text, output: undefined, usage, stopReason: "aborted" };
      await this.#save().catch((error: unknown) => warn("The session could not be saved.", error));
    }
  }

  get #isUnsaved(): boolean {
    return this.#session?.needsSave(this.#conversation.messages) ?? false;
  }

  async #save(): Promise<void> {
    if (this.#isUnsaved) await this.#session?.save(this.#conversation.messages);
  }

  /** The name of a tool as it was defined, from the name that models see. */
  #toolName(wireName: string): string {
    const tools = this.#options.tools.all.flatMap(withSubtools);
    return tools.find((it) => it.wireName === wireName)?.name ?? wireName;
  }

  #offeredTools(): AnyTool[] {
    const { tools, isAllowed } = this.#options;
    return tools.all.flatMap(withSubtools).filter(isAllowed);
  }

  #systemMessages(): Message[] {
    const instruction = this.#output?.instruction({ hasTools: this.#offeredTools().length > 0 });
    const content = [this.#options.systemPrompt, instruction].filter(Boolean).join("\n\n");
    return content === "" ? [] : [{ role: "system", content }];
  }
}
