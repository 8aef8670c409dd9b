// A turn: one run of one tool, the unit of work. It binds a tool to an input, runs it, and records the outcome.

import type { Lazy } from "../async/lazy.ts";
import { defaultGraceMs, Run } from "../async/run.ts";
import { Watch } from "../async/watch.ts";
import { checkDuration, checkPlainObject, checkString } from "../error/check.ts";
import { SafeExecutionError, TurnTimeoutError, WrongRunMethodError } from "../error/execution-errors.ts";
import { warn } from "../error/logger.ts";
import { refuseChanges } from "../error/refuse-changes.ts";
import type { HookEvent, HookEvents } from "../hook/events.ts";
import { fire, neverAborted } from "../hook/fire.ts";
import { toTags } from "../hook/tags.ts";
import { defineJsonType } from "../json/codec.ts";
import { copyData } from "../json/copy.ts";
import type { JsonObject } from "../json/json-value.ts";
import type { Registry } from "../registry/registry.ts";
import { type Invocation, invoke, invokeStream } from "../tool/invoke.ts";
import { provideTurns } from "../tool/run-as-turn.ts";
import type { AnyTool, CallArguments, CompletedOutput, Tool } from "../tool/tool.ts";
import type { ToolContext } from "../tool/tool-context.ts";
import { RunTrace } from "../trace/run-trace.ts";
import { toTraceError } from "../trace/trace-error.ts";
import { TurnHooks } from "./turn-hooks.ts";
import { readTurn, writeTurn } from "./turn-json.ts";
import {
  checkRunOptions,
  checkTurnOptions,
  findTool,
  ownInput,
  type RunTurnOptions,
  type ToolScope,
  type TurnOptions,
} from "./turn-options.ts";
import { notStarted, type StopReason } from "./turn-state.ts";

/** The input of a turn: each value may be lazy, a function that is called when the tool runs. */
export type TurnInput<Input extends object> = { [K in keyof Input]: Lazy<Input[K]> };

const defaultTimeoutMs = 60_000;

/** The turns of errors, beside them: a thrown value may be anyone's, and even frozen. */
const failed = new WeakMap<object, Turn>();

/** Whether the last attempt failed with an error of the tool's own function, which another attempt may avoid. */
export let isThrownByTool: (turn: Turn, error: unknown) => boolean;

/** One run of a tool: with a time limit, the tool's lock, hooks, and a recorded outcome. */
export class Turn<
  Input extends object = Record<string, unknown>,
  Output = unknown,
  Item = unknown,
> extends TurnHooks {
  static {
    const identity = ["uuid", "tool", "registry", "source", "callId"];
    const record = ["isRunning", "attempts", "startTime", "endTime", "stopReason", "output", "hasReturned"];
    refuseChanges(Turn, [...identity, ...record]);
    isThrownByTool = (turn, error) =>
      turn.#thrownByTool !== undefined && Object.is(turn.#thrownByTool.error, error);
  }
  /** Made when it is first read: turns that never run have none. */
  #uuid: string | undefined;
  readonly #tool: AnyTool;
  readonly #registry: Registry;
  readonly #source: "code" | "model";
  readonly #callId: string | undefined;
  #input: Readonly<Record<string, unknown>>;
  #timeoutMs: number | undefined;
  #tags: ReadonlySet<string>;
  #isRunning = false;
  #metadata: Record<string, unknown>;
  #state = notStarted;
  /** What the tool's own function threw in the last attempt; not an error of a hook, the input or a lock. */
  #thrownByTool: { readonly error: unknown } | undefined;

  /**
   * Binds a tool, or the one registered under a name, to its input. The input is copied now, and validated when
   * the turn runs.
   *
   * Defaults: no input, the tool's time limit (else 60,000 ms), no metadata, no tags.
   */
  constructor(
    tool: Tool<Input, Output, Item, never> | AnyTool | string,
    ...[input, options = {}]: CallArguments<TurnInput<Input>, TurnOptions>
  ) {
    super();
    checkTurnOptions(options);
    this.#tool = findTool(tool, options);
    this.#registry = options.registry ?? this.#tool.registry;
    this.#input = ownInput(input ?? {});
    this.#timeoutMs =
      options.timeoutMs === undefined ? undefined : checkDuration("timeoutMs", options.timeoutMs);
    this.#tags = toTags("tags", options.tags);
    this.#metadata =
      options.metadata === undefined ? {} : copyData(checkPlainObject("metadata", options.metadata));
    this.#source = options.source ?? "code";
    this.#callId = options.callId === undefined ? undefined : checkString("callId", options.callId);
    this.#uuid = options.uuid === undefined ? undefined : checkString("uuid", options.uuid);
  }

  /**
   * The turn that threw this error, if one did: which turn of an agent failed, for example. Of nested turns, it is the
   * last that the error passed. An abort is not an error of its turn.
   */
  static ofError(error: unknown): Turn | undefined {
    return typeof error === "object" && error !== null ? failed.get(error) : undefined;
  }

  /** Its identity, and the tool's idempotency key. */
  get uuid(): string {
    this.#uuid ??= crypto.randomUUID();
    return this.#uuid;
  }

  get tool(): AnyTool {
    return this.#tool;
  }

  /** Whose global hooks it fires. */
  get registry(): Registry {
    return this.#registry;
  }

  /** Who made the input. */
  get source(): "code" | "model" {
    return this.#source;
  }

  /** The id of the model's call, if a model made one. */
  get callId(): string | undefined {
    return this.#callId;
  }

  /** The input, before lazy values are resolved. Frozen; assign to replace it. */
  get input(): Readonly<Record<string, unknown>> {
    return this.#input;
  }
  set input(input: object) {
    this.#checkIdle("input");
    this.#input = ownInput(input);
  }

  /** The effective time limit: the turn's, else the tool's, else 60,000. */
  get timeoutMs(): number {
    return this.#timeoutMs ?? this.tool.timeoutMs ?? defaultTimeoutMs;
  }
  set timeoutMs(timeoutMs: number) {
    this.#checkIdle("timeoutMs");
    this.#timeoutMs = checkDuration("timeoutMs", timeoutMs);
  }

  get tags(): ReadonlySet<string> {
    return this.#tags;
  }
  set tags(tags: Iterable<string>) {
    this.#checkIdle("tags");
    this.#tags = toTags("tags", tags);
  }

  /** Your own data. May be changed at any time, even while the turn runs. */
  get metadata(): Record<string, unknown> {
    return this.#metadata;
  }
  set metadata(metadata: Record<string, unknown>) {
    this.#metadata = checkPlainObject("metadata", metadata);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** How many times it was started. */
  get attempts(): number {
    return this.#state.attempts;
  }

  get startTime(): Date | null {
    return this.#state.startTime;
  }

  get endTime(): Date | null {
    return this.#state.endTime;
  }

  /** How the last run ended; `null` before that. */
  get stopReason(): StopReason | null {
    return this.#state.stopReason;
  }

  /** The result of a completed turn; of a stream, its return value or the list of its values. */
  get output(): CompletedOutput<Output, Item> | undefined {
    return this.#state.output as CompletedOutput<Output, Item> | undefined;
  }

  /** Whether `output` is the return value, and not the list of yielded values. */
  get hasReturned(): boolean {
    return this.#state.hasReturned;
  }

  /** Runs a tool that returns one value. A turn may be run again after it ended. */
  async returning(options: RunTurnOptions = {}): Promise<Output> {
    const run = this.#claim(checkRunOptions(options));
    try {
      const beforeRun = this.#fire(run, "turn.beforeRun", this);
      if (beforeRun) await beforeRun;
      if (this.tool.isStreaming) throw new WrongRunMethodError(this.tool.name, { streaming: true });
      run.watch.throwIfStopped();
      const output = await invoke(run.invocation);
      this.#settle("completed", output, true);
      const afterRun = this.#fire(run, "turn.afterRun", this, output);
      if (afterRun) await afterRun;
      return output as Output;
    } catch (error) {
      throw await this.#fail(run, error, undefined);
    } finally {
      const released = this.#release(run);
      if (released) await released;
    }
  }

  /**
   * Runs a streaming tool, and iterates its values. Leaving the iteration aborts the tool and cancels the turn. The
   * return value of the iteration is that of the generator.
   */
  yielding(options: RunTurnOptions = {}): Run<Item, Output> {
    const { signal, graceMs, agent } = checkRunOptions(options);
    const start = (inner: AbortSignal) =>
      this.#stream({ ...options, signal: inner, ...(agent && { agent }) });
    return new Run(start, { signal, graceMs }) as Run<Item, Output>;
  }

  /** A turn that has not run, with the same tool, input, options and hooks, and a new identity. */
  copy(): Turn<Input, Output, Item> {
    const { tool, registry, source, metadata } = this;
    const options: TurnOptions = { registry, source, metadata, tags: this.#tags };
    if (this.#timeoutMs !== undefined) options.timeoutMs = this.#timeoutMs;
    if (this.callId !== undefined) options.callId = this.callId;
    const copy = new Turn<Input, Output, Item>(tool, this.#input as TurnInput<Input>, options);
    copy.hookList.inherit(this.hookList, undefined);
    return copy;
  }

  /** The turn as JSON, without its hooks. Throws if a value cannot be saved, such as a lazy one. */
  toJSON(): JsonObject {
    return writeTurn(this);
  }

  /** Restores a turn; `{ toolName }` is enough. The tool comes from `tools`, else from the registry. */
  static fromJSON(json: unknown, scope: ToolScope & { path?: string } = {}): Turn {
    const { tool, input, options, state, isOwnOutput } = readTurn(json, scope);
    const turn = new Turn(tool, input, options);
    turn.#state = isOwnOutput ? { ...state, output: turn } : state;
    return turn;
  }

  async *#stream(options: RunTurnOptions): AsyncGenerator<unknown, unknown, void> {
    const run = this.#claim(options);
    const values: unknown[] = [];
    let isLeft = true;
    try {
      await this.#fire(run, "turn.beforeRun", this);
      if (!this.tool.isStreaming) throw new WrongRunMethodError(this.tool.name, { streaming: false });
      run.watch.throwIfStopped();
      const result = yield* invokeStream(run.invocation, values);
      isLeft = false;
      this.#settle("completed", result === undefined ? values : result, result !== undefined);
      await this.#fire(run, "turn.afterRun", this, this.output);
      return result;
    } catch (error) {
      isLeft = false;
      throw await this.#fail(run, error, values);
    } finally {
      if (isLeft) this.#settle("cancelled", values, false);
      await this.#release(run);
    }
  }

  #claim({ signal, graceMs = defaultGraceMs, agent, tracer }: RunTurnOptions): TurnRun {
    if (this.#isRunning)
      throw new SafeExecutionError(
        `This turn of the tool '${this.tool.name}' is already running. Wait for it to end, or make another turn.`,
      );
    this.#isRunning = true;
    this.#thrownByTool = undefined;
    this.#state = { ...notStarted, attempts: this.attempts + 1, startTime: new Date() };

    const { tool, timeoutMs, callId } = this;
    const turn = this as Turn;
    const trace = tracer && RunTrace.of(tracer);
    if (trace) this.#traceStart(trace);
    const watch = new Watch({
      signal,
      timeoutMs,
      timeoutError: () => new TurnTimeoutError(tool.name, timeoutMs),
    });
    const context: ToolContext = {
      signal: watch.signal,
      turn,
      ...(agent && { agent, contextQueue: agent.contextQueue, contextPool: agent.contextPool }),
      ...(callId !== undefined && { callId }),
      idempotencyKey: this.uuid,
      attempt: this.attempts,
      ...(trace && { tracer: trace }),
    };
    // The caller's signal, not that of the watch: a timeout must not abort its own hooks.
    const hookSignal = signal ?? neverAborted();
    return {
      watch,
      agent,
      invocation: {
        tool,
        input: this.#input,
        source: this.source,
        context,
        watch,
        hookSignal,
        lockTimeoutMs: timeoutMs,
        graceMs,
        onThrow: (error) => {
          this.#thrownByTool = { error };
        },
        trace,
      },
      error: undefined,
    };
  }

  /** Calls the hooks of an event: those of the turn, of its agent and of its registry. */
  #fire<E extends HookEvent>(run: TurnRun, event: E, ...args: HookEvents[E]): Promise<void> | undefined {
    const { agent, invocation } = run;
    const registry = this.#registry;
    const ofAgent = agent?.turnHookList.forEvent(event).length ?? 0;
    // Nearly always there are none.
    if (this.hookList.forEvent(event).length + ofAgent + registry.hooks.forEvent(event).length === 0)
      return undefined;
    const hooks = agent ? [this.hookList, agent.turnHookList] : [this.hookList];
    const { tool, graceMs, hookSignal: signal } = invocation;
    const source = { hooks, registry, tags: this.#tags, graceMs };
    return fire(event, source, args, { tool, turn: this, ...(agent && { agent }), signal });
  }

  #settle(stopReason: StopReason, output: unknown, hasReturned: boolean): void {
    this.#state = { ...this.#state, endTime: new Date(), stopReason, output, hasReturned };
  }

  /** Records a failure and fires the hooks. Returns the error to throw: that of a hook that throws replaces it. */
  async #fail(run: TurnRun, error: unknown, values: unknown[] | undefined): Promise<unknown> {
    const stopReason = run.watch.endedBy(error) ?? "error";
    this.#settle(stopReason, stopReason === "cancelled" ? values : undefined, false);
    run.error = error;
    if (stopReason !== "cancelled") this.#mark(error);
    try {
      if (stopReason === "timeout") await this.#fire(run, "turn.onTimeout", this);
      if (stopReason === "error") await this.#fire(run, "turn.onError", this, error);
      return error;
    } catch (hookError) {
      this.#mark(hookError);
      warn(
        `A hook failed while a turn of the tool '${this.tool.name}' was failing; the turn's own error was:`,
        error,
      );
      return hookError;
    }
  }

  /** Ends the run. The turn can be run again, even if a hook throws. */
  #release(run: TurnRun): Promise<void> | undefined {
    const completing = this.#fire(run, "turn.onComplete", this, this.stopReason as StopReason);
    if (completing) return this.#releaseAfter(completing, run);
    this.#end(run);
    return undefined;
  }

  async #releaseAfter(completing: Promise<void>, run: TurnRun): Promise<void> {
    try {
      await completing;
    } catch (hookError) {
      this.#mark(hookError);
      if (run.error !== undefined)
        warn(
          `An onComplete hook failed; the error of the turn of the tool '${this.tool.name}' was:`,
          run.error,
        );
      throw hookError;
    } finally {
      this.#end(run);
    }
  }

  #end({ watch, invocation: { trace }, error }: TurnRun): void {
    watch[Symbol.dispose]();
    this.#isRunning = false;
    if (trace) this.#traceEnd(trace, error);
  }

  #traceStart(trace: RunTrace): void {
    const { uuid: turnId, callId, attempts: attempt } = this;
    const input = this.#input;
    trace.emit({
      type: "turn.started",
      turnId,
      name: this.tool.name,
      ...(callId !== undefined && { callId }),
      attempt,
      input: () => input,
    });
  }

  #traceEnd(trace: RunTrace, error: unknown): void {
    const { stopReason, output } = this.#state;
    trace.emit({
      type: "turn.finished",
      turnId: this.uuid,
      stopReason: stopReason ?? "error",
      ...(error !== undefined && { error: toTraceError(error) }),
      ...(output !== undefined && { output: () => output }),
    });
  }

  #mark(error: unknown): void {
    if (typeof error === "object" && error !== null) failed.set(error, this);
  }

  #checkIdle(property: string): void {
    if (this.#isRunning)
      throw new SafeExecutionError(`Cannot change property '${property}' while the turn is running.`);
  }
}

/** The state of a turn while it runs. */
interface TurnRun {
  readonly watch: Watch;
  readonly invocation: Invocation;
  readonly agent: RunTurnOptions["agent"];
  error: unknown;
}

defineJsonType<Turn, ToolScope>({
  tag: "turn",
  is: (value) => value instanceof Turn,
  encode: (turn, path) => writeTurn(turn, path),
  decode: (json, scope, path) => Turn.fromJSON(json, { ...scope, path }),
});

provideTurns((tool, input, { timeoutMs, ...options }) => {
  const make = () => new Turn(tool, input, timeoutMs === undefined ? {} : { timeoutMs });
  // All errors reach the caller through the promise.
  return tool.isStreaming
    ? make().yielding(options)
    : Promise.resolve().then(() => make().returning(options));
});
