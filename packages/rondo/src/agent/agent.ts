// An agent: a queue of turns. It runs them one at a time, or several at once, and routes the values that they produce.

import { backoffMs } from "../async/backoff.ts";
import { Bell } from "../async/bell.ts";
import { Deque } from "../async/deque.ts";
import { Lanes } from "../async/lanes.ts";
import { defaultGraceMs, Run } from "../async/run.ts";
import { sleep } from "../async/until-aborted.ts";
import { ContextItem } from "../context/context-item.ts";
import { ContextPool } from "../context/context-pool.ts";
import { ContextQueue } from "../context/context-queue.ts";
import {
  checkBoolean,
  checkGrace,
  checkLimit,
  checkName,
  checkOptions,
  checkSignal,
  checkString,
  requireType,
} from "../error/check.ts";
import { SafeExecutionError } from "../error/execution-errors.ts";
import { warn } from "../error/logger.ts";
import { refuseChanges } from "../error/refuse-changes.ts";
import type { HookEvent, HookEvents } from "../hook/events.ts";
import { fire, neverAborted } from "../hook/fire.ts";
import { HookList } from "../hook/hook-list.ts";
import { toTags } from "../hook/tags.ts";
import { waitWithGrace } from "../hook/wait-with-grace.ts";
import type { JsonObject } from "../json/json-value.ts";
import type { ModelProvider } from "../model/provider.ts";
import type { Registry } from "../registry/registry.ts";
import { chooseRegistry } from "../registry/registry-option.ts";
import type { AnyTool } from "../tool/tool.ts";
import { checkOnTrace, type OnTrace, RunTrace } from "../trace/run-trace.ts";
import { Turn } from "../turn/turn.ts";
import { AgentHooks } from "./agent-hooks.ts";
import { type AgentScope, readAgent, writeAgent } from "./agent-json.ts";
import {
  type AgentBranchOptions,
  type AgentOptions,
  byName,
  checkAccepted,
  checkContextPool,
  checkContextQueue,
  type RunOptions,
  readTools,
} from "./agent-options.ts";
import type { TurnValue, YieldedBy } from "./agent-values.ts";
import { checkPrompt } from "./check-prompt.ts";
import {
  checkModelSetup,
  type ModelSetup,
  type Prompt,
  thinkingOptionNames,
  thinkingTool,
} from "./thinking.ts";
import type { AgentContents } from "./turn-effects.ts";
import { newestEffectsFirst, TurnInFlight } from "./turn-in-flight.ts";
import { attemptsOf, checkRetries, isRetried, type TurnRetryPolicy } from "./turn-retries.ts";

const defaultQueueLimit = 10;

type TurnLanes = Lanes<TurnInFlight, TurnValue, boolean>;

/**
 * Runs queued turns in order, and holds the context that their tools share. `T` is the union of its tools, or of their
 * names, and `M` its model; both are inferred, and tell which values `run()` yields.
 */
export class Agent<
    T extends AnyTool | string = AnyTool | string,
    M extends ModelProvider | undefined = ModelProvider | undefined,
  >
  extends AgentHooks
  implements Iterable<Turn>
{
  static {
    const state = ["turns", "currentTurn", "currentTurns", "isRunning", "isPaused"];
    refuseChanges(Agent, ["name", "registry", "isRegistered", "tools", "modelSetup", ...state]);
  }
  readonly #name: string;
  readonly #registry: Registry;
  readonly #isRegistered: boolean;
  readonly #modelSetup: ModelSetup | null;
  readonly #tools: readonly AnyTool[];
  readonly #toolsByName: ReadonlyMap<string, AnyTool>;
  #description: string;
  #tags: ReadonlySet<string>;
  #contextQueue: ContextQueue;
  #contextPool: ContextPool;
  readonly #queue = new Deque<Turn>();
  readonly #retries: TurnRetryPolicy | null;
  readonly #concurrency: number;
  readonly #onTrace: OnTrace | undefined;
  /** That of the run under way. */
  #trace: RunTrace | undefined;
  /** The turns that run, and those that ran when a restored agent was saved. */
  #inFlight: TurnInFlight[] = [];
  #isRunning = false;
  #graceMs = defaultGraceMs;
  #isPaused = false;
  readonly #bell = new Bell(); // rung for new work and on resume

  /** Defaults: no description, a context queue of 10, a pool without a limit, no tags, the default registry. */
  constructor(options: AgentOptions<T, M>) {
    super();
    checkOptions("options", options, [
      "name",
      "description",
      ...thinkingOptionNames,
      "tools",
      "contextQueue",
      "contextPool",
      "tags",
      "retries",
      "concurrency",
      "onTrace",
      "registry",
    ]);
    const { registry, isRegistered } = chooseRegistry(options.registry);
    this.#name = checkName("name", options.name);
    this.#registry = registry;
    this.#isRegistered = isRegistered;
    this.#tools = Object.freeze(readTools(options.tools, registry));
    this.#modelSetup = checkModelSetup(options);
    this.#toolsByName = byName(this.#modelSetup ? [...this.#tools, thinkingTool] : this.#tools);
    this.#description = checkString("description", options.description ?? "");
    this.#tags = toTags("tags", options.tags);
    this.#retries = checkRetries(options.retries);
    this.#concurrency = checkLimit("concurrency", options.concurrency ?? 1);
    this.#onTrace = checkOnTrace("onTrace", options.onTrace);
    this.#contextQueue = checkContextQueue(
      options.contextQueue ?? new ContextQueue({ limit: defaultQueueLimit, registry }),
    );
    this.#contextPool = checkContextPool(options.contextPool ?? new ContextPool({ registry }));
    if (isRegistered) registry.agents.register(this);
  }

  get name(): string {
    return this.#name;
  }

  get registry(): Registry {
    return this.#registry;
  }

  get isRegistered(): boolean {
    return this.#isRegistered;
  }

  /** The given tools. Their subtools are included implicitly. */
  get tools(): readonly AnyTool[] {
    return this.#tools;
  }

  /** Its model, and how it is asked; `null` if it has none. */
  get modelSetup(): ModelSetup | null {
    return this.#modelSetup;
  }

  get description(): string {
    return this.#description;
  }
  set description(description: string) {
    this.#checkIdle("description");
    this.#description = checkString("description", description);
  }

  get tags(): ReadonlySet<string> {
    return this.#tags;
  }
  set tags(tags: Iterable<string>) {
    this.#checkIdle("tags");
    this.#tags = toTags("tags", tags);
  }

  get contextQueue(): ContextQueue {
    return this.#contextQueue;
  }
  set contextQueue(queue: ContextQueue) {
    this.#checkIdle("contextQueue");
    this.#contextQueue = checkContextQueue(queue);
  }

  get contextPool(): ContextPool {
    return this.#contextPool;
  }
  set contextPool(pool: ContextPool) {
    this.#checkIdle("contextPool");
    this.#contextPool = checkContextPool(pool);
  }

  /** A copy of the queue of turns. */
  get turns(): Turn[] {
    return [...this.#queue];
  }

  /** The turn that is running, or was running when a restored agent was saved; of several, the first. */
  get currentTurn(): Turn | null {
    return this.#inFlight[0]?.turn ?? null;
  }

  /** All turns that are running, or were running when a restored agent was saved. */
  get currentTurns(): Turn[] {
    return this.#inFlight.map(({ turn }) => turn);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  [Symbol.iterator](): Iterator<Turn> {
    return this.turns[Symbol.iterator]();
  }

  /** Queues a turn of one of the agent's tools, even while it runs or is paused. */
  async put(turn: Turn): Promise<void> {
    this.#checkTurn(turn);
    await this.#enqueue(turn, neverAborted());
  }

  /**
   * Queues a prompt to the agent's model, as a turn without a time limit. `run()` then yields the blocks of the
   * answers as `[turn, block]`, and the result last. The model can call the agent's tools.
   */
  async ask(prompt: Prompt): Promise<void> {
    if (!this.modelSetup)
      throw new SafeExecutionError(`The agent '${this.name}' has no model: set the option \`model\`.`);
    checkPrompt(prompt);
    await this.put(new Turn(thinkingTool, { prompt }));
  }

  /** Queues a turn at another agent of the same registry. */
  async send(agentName: string, turn: Turn): Promise<void> {
    await this.registry.agents.get(agentName).put(turn);
  }

  /**
   * Runs the queued turns and yields `[turn, value]` for each value as it arrives. A `Turn` among the values is
   * queued, and a `ContextItem` is added to the context; those are not yielded.
   *
   * Ends when the queue is empty (unless `wait` is true), or when a completion check returns true. Leaving the
   * iteration aborts the tool and cancels its turn; an error ends the run and drops the failed turn. In each case
   * the rest stays queued, and the agent can be run again. With `concurrency`, an error is thrown when the other turns
   * in flight ended.
   */
  run(options: RunOptions = {}): Run<TurnValue<YieldedBy<T, M>>> {
    checkOptions("options", options, ["signal", "wait", "graceMs"]);
    const signal = checkSignal("signal", options.signal);
    const wait = checkBoolean("wait", options.wait ?? false);
    const graceMs = checkGrace("graceMs", options.graceMs ?? defaultGraceMs);
    const run = new Run((inner) => this.#loop(inner, wait, graceMs), { signal, graceMs });
    return run as Run<TurnValue<YieldedBy<T, M>>>;
  }

  /** Pauses the run before its next turn; the current one completes. May be called before `run()`. Idempotent. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Continues a paused run. */
  resume(): void {
    this.#isPaused = false;
    this.#bell.ring();
  }

  /**
   * An independent agent in the same state: copies of its queued turns and its context, its tools, tags and hooks.
   * The current turn is not included. The branch is not paused, and registered in the same registry.
   */
  branch<B extends AnyTool | string = T>(name: string, options: AgentBranchOptions<B> = {}): Agent<B, M> {
    checkOptions("options", options, ["description", "tools", "hooks"]);
    const { description = this.#description, hooks } = options;
    const tools = readTools(options.tools ?? this.#tools, this.registry);
    const accepted = byName(this.modelSetup ? [...tools, thinkingTool] : tools);
    for (const turn of this.#queue) checkAccepted(turn, accepted, name);
    new HookList("agent").inherit(this.hookList, hooks); // rejects invalid hooks before anything is registered
    const child = new Agent<AnyTool>({
      name,
      description,
      tools,
      ...this.modelSetup,
      contextQueue: this.#contextQueue.branch(),
      contextPool: this.#contextPool.branch(),
      tags: this.#tags,
      ...(this.#retries && { retries: this.#retries }),
      concurrency: this.#concurrency,
      ...(this.#onTrace && { onTrace: this.#onTrace }),
      registry: this.isRegistered && this.registry,
    });
    for (const turn of this.#queue) child.#queue.push(turn.copy());
    child.hookList.inherit(this.hookList, hooks);
    child.turnHookList.inherit(this.turnHookList, hooks);
    return child as Agent<never, never>;
  }

  /** Unregisters the agent, so that its name is free again. */
  [Symbol.dispose](): void {
    const { agents } = this.registry;
    if (this.isRegistered && agents.has(this.name) && agents.get(this.name) === this)
      agents.unregister(this.name);
  }

  /**
   * The agent as JSON, without its hooks. May be called while it runs: the current turn is saved as not yet run or,
   * if it ended and its value was not passed on yet, with that value.
   */
  toJSON(): JsonObject {
    let contents: AgentContents = {
      turns: this.turns,
      queue: this.#contextQueue.items,
      pool: this.#contextPool.items,
    };
    for (const { effects, isCompleted } of newestEffectsFirst(this.#inFlight))
      contents = effects.removeFrom(contents, isCompleted, this.#contextQueue, this.#contextPool);
    return writeAgent(this, this.#inFlight, contents);
  }

  /**
   * Restores an agent and registers it. Its tools come from `tools`, else from the registry. The turn that was
   * running when it was saved runs first, from its start.
   */
  static fromJSON(json: unknown, scope: AgentScope = {}): Agent {
    const { options, queue, inFlight, isPaused } = readAgent(json, scope);
    const agent = new Agent(options);
    for (const turn of queue) agent.#queue.push(turn);
    agent.#inFlight = [...inFlight];
    agent.#isPaused = isPaused;
    return agent;
  }

  async *#loop(signal: AbortSignal, wait: boolean, graceMs: number): AsyncGenerator<TurnValue, void, void> {
    if (this.#isRunning)
      throw new SafeExecutionError(
        `The agent '${this.name}' is already running. Use put() to give it more work.`,
      );
    this.#isRunning = true;
    this.#graceMs = graceMs;
    const trace = this.#onTrace && new RunTrace(this.#onTrace);
    this.#trace = trace;
    trace?.start(this.name);
    try {
      if (this.#concurrency > 1) {
        yield* this.#runSeveral(signal, wait, graceMs);
        trace?.finish("completed");
        return;
      }
      while (await this.#hasWork(signal, wait)) {
        await this.#announceNext(signal);
        const isDone = yield* this.#runTurn(this.#takeNext(), signal, graceMs);
        if (isDone) break;
      }
      trace?.finish("completed");
    } catch (error) {
      if (error !== signal.reason) trace?.fail(error);
      throw error;
    } finally {
      trace?.finish("aborted"); // by its signal, or left
      this.#trace = undefined;
      this.#isRunning = false;
    }
  }

  /**
   * Runs up to `concurrency` turns at once. They start in the order of the queue. After a failure no other turn starts,
   * and the run fails when those in flight ended.
   */
  async *#runSeveral(
    signal: AbortSignal,
    wait: boolean,
    graceMs: number,
  ): AsyncGenerator<TurnValue, void, void> {
    const lanes: TurnLanes = new Lanes(() => this.#bell.ring());
    let failure: { readonly error: unknown } | undefined;
    let isDone = false;
    const mayStart = () => !failure && !isDone;
    const fail = (error: unknown) => {
      if (signal.aborted) throw error;
      if (failure) warn("Another turn failed while the run was ending.", error);
      failure ??= { error };
    };
    try {
      while (lanes.size > 0 || (mayStart() && (await this.#hasWork(signal, wait)))) {
        try {
          if (mayStart()) await this.#startTurns(lanes, signal, graceMs);
        } catch (error) {
          fail(error);
        }
        const arrival = lanes.take();
        if (!arrival) {
          if (lanes.size > 0) await this.#bell.sleep(signal);
        } else if ("error" in arrival) fail(arrival.error);
        else if (arrival.step.done) isDone ||= arrival.step.value;
        else {
          if (arrival.key.isLastValue) this.#endTurn(arrival.key);
          yield arrival.step.value;
          signal.throwIfAborted();
          lanes.pull(arrival.key);
        }
      }
      if (failure) throw failure.error;
    } finally {
      await lanes.close(signal);
    }
  }

  async #startTurns(lanes: TurnLanes, signal: AbortSignal, graceMs: number): Promise<void> {
    while (lanes.size < this.#concurrency && !this.#isPaused) {
      const next = this.#nextTurn();
      if (!next || lanes.keys().some((flight) => flight.precedes(next))) return;
      await this.#announceNext(signal);
      const flight = this.#takeNext();
      lanes.add(flight, this.#runTurn(flight, signal, graceMs));
    }
  }

  /** Waits while the agent is paused, and for work if `wait` is true. */
  async #hasWork(signal: AbortSignal, wait: boolean): Promise<boolean> {
    while (true) {
      signal.throwIfAborted();
      if (this.#inFlight.length === 0 && this.#queue.size === 0) {
        if (!wait) return false;
        await this.#bell.sleep(signal);
      } else if (this.#isPaused) {
        await this.#fire("agent.onPause", signal, undefined, this);
        while (this.#isPaused) await this.#bell.sleep(signal);
        await this.#fire("agent.onResume", signal, undefined, this);
      } else return true;
    }
  }

  /** The next turn: one that ran when the agent was saved, else the first of the queue. */
  #nextTurn(): Turn | undefined {
    return this.#inFlight.find(({ isStarted }) => !isStarted)?.turn ?? this.#queue.peek();
  }

  async #announceNext(signal: AbortSignal): Promise<void> {
    await this.#fire("agent.beforeTurn", signal, this.#nextTurn(), this);
    signal.throwIfAborted();
  }

  /** Takes the next turn. It must start at once: a snapshot in between would not know that it is about to run. */
  #takeNext(): TurnInFlight {
    const restored = this.#inFlight.find(({ isStarted }) => !isStarted);
    const flight = restored ?? new TurnInFlight(this.#queue.shift() as Turn, { isStarted: true });
    if (!restored) this.#inFlight.push(flight);
    flight.isStarted = true;
    return flight;
  }

  /** Runs one turn. Returns whether it was a completion check that ends the run. */
  async *#runTurn(
    flight: TurnInFlight,
    signal: AbortSignal,
    graceMs: number,
  ): AsyncGenerator<TurnValue, boolean, void> {
    const { turn } = flight;
    try {
      // A turn that completed before it was saved must not run again: only its value is passed on.
      if (!flight.isRestoredResult) yield* this.#execute(flight, signal, graceMs);
      if (turn.hasReturned) yield* this.#deliver(flight, turn.output, signal, { isLast: true });
      this.#endTurn(flight);
      await this.#fire("agent.afterTurn", signal, turn, this, turn);
      return turn.tool.type === "completion_check" && turn.output === true;
    } finally {
      this.#endTurn(flight);
    }
  }

  /** Runs the tool, again if it throws and may be retried. */
  async *#execute(
    flight: TurnInFlight,
    signal: AbortSignal,
    graceMs: number,
  ): AsyncGenerator<TurnValue, void, void> {
    const policy = this.#retries;
    const attempts = attemptsOf(flight.turn, policy);
    for (let count = 1; ; count += 1) {
      flight.mayRetry = count < attempts;
      try {
        yield* this.#attempt(flight, signal, graceMs);
        return;
      } catch (error) {
        if (!(policy && flight.mayRetry && isRetried(error, flight.turn, policy))) throw error;
        await sleep(backoffMs(count, policy), signal);
      }
    }
  }

  async *#attempt(
    flight: TurnInFlight,
    signal: AbortSignal,
    graceMs: number,
  ): AsyncGenerator<TurnValue, void, void> {
    const { turn } = flight;
    const options = { signal, graceMs, agent: this, ...(this.#trace && { tracer: this.#trace }) };
    if (!turn.tool.isStreaming) {
      await turn.returning(options);
      return;
    }
    const run = turn.yielding(options);
    try {
      for (let step = await run.next(); !step.done; step = await run.next()) {
        flight.mayRetry = false; // another attempt would repeat the value
        yield* this.#deliver(flight, step.value, signal, { isLast: false });
      }
    } finally {
      await run.return();
    }
  }

  /** Routes a value, fires the hooks, and yields it if it was not routed. */
  async *#deliver(
    flight: TurnInFlight,
    value: unknown,
    signal: AbortSignal,
    { isLast }: { isLast: boolean },
  ): AsyncGenerator<TurnValue, void, void> {
    const { turn } = flight;
    const isRouted = await this.#route(flight, value, signal);
    await this.#fire("agent.onTurnValue", signal, turn, this, turn, value);
    // From here on the value counts as passed on: a snapshot that the caller takes must not repeat it.
    // With several turns at once, it may have to wait for the caller first.
    flight.isLastValue = isLast;
    if (isLast && this.#concurrency === 1) this.#endTurn(flight);
    if (!isRouted) yield [turn, value];
  }

  async #route(flight: TurnInFlight, value: unknown, signal: AbortSignal): Promise<boolean> {
    if (!(value instanceof Turn || value instanceof ContextItem)) return false;
    if (value instanceof Turn) this.#checkTurn(value);
    flight.recordableEffects().record(value, flight.isCompleted, this.#contextQueue, this.#contextPool);
    if (value instanceof Turn) {
      await this.#enqueue(value, signal);
      return true;
    }
    const kept = value.id === null ? this.#contextQueue.append(value) : this.#contextPool.add(value);
    await waitWithGrace(kept, "the agent's context", signal, this.#graceMs);
    return true;
  }

  #endTurn(flight: TurnInFlight): void {
    const index = this.#inFlight.indexOf(flight);
    if (index !== -1) this.#inFlight.splice(index, 1);
  }

  async #enqueue(turn: Turn, signal: AbortSignal): Promise<void> {
    await this.#fire("agent.beforePut", signal, turn, this, turn);
    this.#queue.push(turn);
    this.#bell.ring();
    await this.#fire("agent.afterPut", signal, turn, this, turn);
  }

  #checkTurn(turn: unknown): void {
    requireType(turn instanceof Turn, "turn", "a Turn", turn);
    checkAccepted(turn, this.#toolsByName, this.name);
  }

  #checkIdle(property: string): void {
    const state = this.#isRunning ? "running" : "paused";
    if (this.#isRunning || this.#isPaused)
      throw new SafeExecutionError(`Cannot change property '${property}' while the agent is ${state}.`);
  }

  #fire<E extends HookEvent>(
    event: E,
    signal: AbortSignal,
    turn: Turn | undefined,
    ...args: HookEvents[E]
  ): Promise<void> | undefined {
    const source = {
      hooks: [this.hookList],
      registry: this.#registry,
      tags: this.#tags,
      graceMs: this.#graceMs,
    };
    return fire(event, source, args, { agent: this, ...(turn && { turn, tool: turn.tool }), signal });
  }
}
