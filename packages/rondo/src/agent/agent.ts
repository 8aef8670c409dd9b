// An agent: a queue of turns, the context that their tools share, and who may see and change both.

import { defaultGraceMs, Run } from "../async/run.ts";
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
import { refuseChanges } from "../error/refuse-changes.ts";
import type { HookEvent, HookEvents } from "../hook/events.ts";
import { fire, neverAborted } from "../hook/fire.ts";
import { HookList } from "../hook/hook-list.ts";
import { toTags } from "../hook/tags.ts";
import type { JsonObject } from "../json/json-value.ts";
import type { ModelProvider } from "../model/provider.ts";
import type { Registry } from "../registry/registry.ts";
import { chooseRegistry } from "../registry/registry-option.ts";
import type { AnyTool } from "../tool/tool.ts";
import { checkOnTrace, type OnTrace } from "../trace/run-trace.ts";
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
import { AgentRun, type AgentRunSetup } from "./agent-run.ts";
import { AgentTurns } from "./agent-turns.ts";
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
import { newestEffectsFirst } from "./turn-in-flight.ts";
import { checkRetries, type TurnRetryPolicy } from "./turn-retries.ts";

const defaultQueueLimit = 10;

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
  readonly #turns = new AgentTurns();
  readonly #retries: TurnRetryPolicy | null;
  readonly #concurrency: number;
  readonly #onTrace: OnTrace | undefined;

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
    this.#toolsByName = byName(this.#modelSetup ? [...this.#tools, thinkingTool()] : this.#tools);
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
    return [...this.#turns.queue];
  }

  /** The turn that is running, or was running when a restored agent was saved; of several, the first. */
  get currentTurn(): Turn | null {
    return this.#turns.inFlight[0]?.turn ?? null;
  }

  /** All turns that are running, or were running when a restored agent was saved. */
  get currentTurns(): Turn[] {
    return this.#turns.inFlight.map(({ turn }) => turn);
  }

  get isRunning(): boolean {
    return this.#turns.isRunning;
  }

  get isPaused(): boolean {
    return this.#turns.isPaused;
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
    await this.put(new Turn(thinkingTool(), { prompt }));
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
    const setup: AgentRunSetup = {
      agent: this,
      turns: this.#turns,
      wait,
      graceMs,
      concurrency: this.#concurrency,
      retries: this.#retries,
      onTrace: this.#onTrace,
      fire: (event, inner, turn, ...args) => this.#fire(event, inner, turn, ...args),
      checkTurn: (turn) => this.#checkTurn(turn),
      enqueue: (turn, inner) => this.#enqueue(turn, inner),
    };
    const run = new Run((inner) => new AgentRun(setup, inner).values(), { signal, graceMs });
    return run as Run<TurnValue<YieldedBy<T, M>>>;
  }

  /** Pauses the run before its next turn; the current one completes. May be called before `run()`. Idempotent. */
  pause(): void {
    this.#turns.isPaused = true;
  }

  /** Continues a paused run. */
  resume(): void {
    this.#turns.isPaused = false;
    this.#turns.bell.ring();
  }

  /**
   * An independent agent in the same state: copies of its queued turns and its context, its tools, tags and hooks.
   * The current turn is not included. The branch is not paused, and registered in the same registry.
   */
  branch<B extends AnyTool | string = T>(name: string, options: AgentBranchOptions<B> = {}): Agent<B, M> {
    checkOptions("options", options, ["description", "tools", "hooks"]);
    const { description = this.#description, hooks } = options;
    const tools = readTools(options.tools ?? this.#tools, this.registry);
    const accepted = byName(this.modelSetup ? [...tools, thinkingTool()] : tools);
    for (const turn of this.#turns.queue) checkAccepted(turn, accepted, name);
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
    for (const turn of this.#turns.queue) child.#turns.queue.push(turn.copy());
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
    for (const { effects, isCompleted } of newestEffectsFirst(this.#turns.inFlight))
      contents = effects.removeFrom(contents, isCompleted, this.#contextQueue, this.#contextPool);
    return writeAgent(this, this.#turns.inFlight, contents);
  }

  /**
   * Restores an agent and registers it. Its tools come from `tools`, else from the registry. The turn that was
   * running when it was saved runs first, from its start.
   */
  static fromJSON(json: unknown, scope: AgentScope = {}): Agent {
    const { options, queue, inFlight, isPaused } = readAgent(json, scope);
    const agent = new Agent(options);
    for (const turn of queue) agent.#turns.queue.push(turn);
    agent.#turns.inFlight = [...inFlight];
    agent.#turns.isPaused = isPaused;
    return agent;
  }

  async #enqueue(turn: Turn, signal: AbortSignal): Promise<void> {
    await this.#fire("agent.beforePut", signal, turn, this, turn);
    this.#turns.queue.push(turn);
    this.#turns.bell.ring();
    await this.#fire("agent.afterPut", signal, turn, this, turn);
  }

  #checkTurn(turn: unknown): void {
    requireType(turn instanceof Turn, "turn", "a Turn", turn);
    checkAccepted(turn, this.#toolsByName, this.name);
  }

  #checkIdle(property: string): void {
    const { isRunning, isPaused } = this.#turns;
    const state = isRunning ? "running" : "paused";
    if (isRunning || isPaused)
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
      graceMs: this.#turns.graceMs,
    };
    return fire(event, source, args, { agent: this, ...(turn && { turn, tool: turn.tool }), signal });
  }
}
