// An agent: a queue of turns. It runs them one after the other, and routes what they produce.

import { Deque } from "../async/deque.ts";
import { defaultGraceMs, Run } from "../async/run.ts";
import { ContextItem } from "../context/context-item.ts";
import { ContextPool } from "../context/context-pool.ts";
import { ContextQueue } from "../context/context-queue.ts";
import { neverAborted } from "../context/no-signal.ts";
import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import {
  checkBoolean,
  checkGrace,
  checkName,
  checkOptions,
  checkSignal,
  checkString,
} from "../error/check.ts";
import { SafeExecutionError } from "../error/execution-errors.ts";
import type { HookEvent, HookEvents, HookFunction } from "../hook/events.ts";
import { fire } from "../hook/fire.ts";
import type { AttachOptions, Hook } from "../hook/hook.ts";
import { HookList } from "../hook/hook-list.ts";
import { toTags } from "../hook/tags.ts";
import type { JsonObject } from "../json/json-value.ts";
import { formatVersion, SavedObject } from "../json/read.ts";
import type { Registry } from "../registry/registry.ts";
import { chooseRegistry } from "../registry/registry-option.ts";
import type { AnyTool } from "../tool/tool.ts";
import { Turn } from "../turn/turn.ts";
import { findTool, type ToolScope } from "../turn/turn-options.ts";
import {
  type AgentBranchOptions,
  type AgentOptions,
  byName,
  checkContextPool,
  checkContextQueue,
  type RunOptions,
  readTools,
} from "./agent-options.ts";

const defaultQueueLimit = 10;

/** A value that a turn has produced, with its turn. */
export type TurnValue = [turn: Turn, value: unknown];

/** Runs queued turns in order, and keeps the context that their tools share. */
export class Agent implements Iterable<Turn> {
  readonly name: string;
  readonly registry: Registry;
  readonly isRegistered: boolean;
  /** The tools that it was given; their subtools are its own too. */
  readonly tools: readonly AnyTool[];
  readonly #toolsByName: ReadonlyMap<string, AnyTool>;
  #description: string;
  #tags: ReadonlySet<string>;
  #contextQueue: ContextQueue;
  #contextPool: ContextPool;
  readonly #queue = new Deque<Turn>();
  #currentTurn: Turn | null = null;
  // What the current turn has added to the queues. A snapshot leaves it out, because it has the turn run again.
  readonly #routed = new Set<Turn | ContextItem>();
  #isRunning = false;
  #isPaused = false;
  #wake: (() => void) | undefined;
  readonly #hooks = new HookList();
  readonly #turnHooks = new HookList();

  /** Defaults: no description, a context queue of 10, a pool without a limit, no tags, the default registry. */
  constructor(options: AgentOptions) {
    checkOptions("options", options, [
      "name",
      "description",
      "tools",
      "contextQueue",
      "contextPool",
      "tags",
      "registry",
    ]);
    const { registry, isRegistered } = chooseRegistry(options.registry);
    this.name = checkName("name", options.name);
    this.registry = registry;
    this.isRegistered = isRegistered;
    this.tools = Object.freeze(readTools(options.tools, registry));
    this.#toolsByName = byName(this.tools);
    this.#description = checkString("description", options.description ?? "");
    this.#tags = toTags("tags", options.tags);
    this.#contextQueue = checkContextQueue(
      options.contextQueue ?? new ContextQueue({ limit: defaultQueueLimit, registry }),
    );
    this.#contextPool = checkContextPool(options.contextPool ?? new ContextPool({ registry }));
    if (isRegistered) registry.agents.register(this);
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

  /** The queued turns, in order. A copy: the queue stays as it is. */
  get turns(): Turn[] {
    return [...this.#queue];
  }

  /** The turn whose tool runs now, or that was running when a restored agent was saved. */
  get currentTurn(): Turn | null {
    return this.#currentTurn;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** The hooks of this agent alone, those for its turns included. */
  get hooks(): readonly Hook[] {
    return [...this.#hooks.all(), ...this.#turnHooks.all()];
  }

  /** The hooks for the turns that this agent runs, in a form that is read by the turns. */
  get turnHookList(): HookList {
    return this.#turnHooks;
  }

  [Symbol.iterator](): Iterator<Turn> {
    return this.turns[Symbol.iterator]();
  }

  /** Queues a turn of one of the agent's tools, also while it runs or is paused. */
  async put(turn: Turn): Promise<void> {
    this.#checkTurn(turn);
    await this.#enqueue(turn, neverAborted);
  }

  /** Queues a turn at another agent of the same registry. */
  async send(agentName: string, turn: Turn): Promise<void> {
    await this.registry.agents.get(agentName).put(turn);
  }

  /**
   * Runs the queued turns and yields `[turn, value]` for each value as it comes. A `Turn` among the values is
   * queued and a `ContextItem` kept as context; those are not yielded.
   *
   * Ends when the queue is empty, or when a completion check has returned true. With `wait: true` an empty queue
   * is waited at. Leaving the iteration aborts the tool and cancels its turn; an error ends the run and drops the
   * turn that failed. In each case the rest stays queued, and the agent can be run again.
   */
  run(options: RunOptions = {}): Run<TurnValue> {
    checkOptions("options", options, ["signal", "wait", "graceMs"]);
    const signal = checkSignal("signal", options.signal);
    const wait = checkBoolean("wait", options.wait ?? false);
    const graceMs = checkGrace("graceMs", options.graceMs ?? defaultGraceMs);
    return new Run((inner) => this.#loop(inner, wait, graceMs), { signal, graceMs });
  }

  /** Holds the run before its next turn; the one under way completes. Also before `run()`, also again. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Lets a paused run go on. */
  resume(): void {
    this.#isPaused = false;
    this.#wake?.();
  }

  /**
   * An independent agent that starts where this one is: copies of its queued turns and its context, its tools,
   * tags and hooks. The turn under way is not among them. It is not paused, and registered where this one is.
   */
  branch(name: string, options: AgentBranchOptions = {}): Agent {
    checkOptions("options", options, ["description", "tools", "hooks"]);
    const { description = this.#description, tools = this.tools, hooks } = options;
    const accepted = byName(readTools(tools, this.registry));
    for (const turn of this.#queue) checkAccepted(turn, accepted, name);
    const child = new Agent({
      name,
      description,
      tools,
      contextQueue: this.#contextQueue.branch(),
      contextPool: this.#contextPool.branch(),
      tags: this.#tags,
      registry: this.isRegistered && this.registry,
    });
    for (const turn of this.#queue) child.#queue.push(turn.copy());
    child.#hooks.inherit(this.#hooks, hooks);
    child.#turnHooks.inherit(this.#turnHooks, hooks);
    return child;
  }

  /** Forgets the agent in its registry, so that its name is free again. */
  [Symbol.dispose](): void {
    if (
      this.isRegistered &&
      this.registry.agents.has(this.name) &&
      this.registry.agents.get(this.name) === this
    )
      this.registry.agents.unregister(this.name);
  }

  /**
   * The agent as JSON: everything but the hooks. At any time, also while it runs: a turn under way is saved as
   * not yet run, one that has ended but whose value was not passed on yet is saved with that value.
   */
  toJSON(): JsonObject {
    const isKept = (it: Turn | ContextItem) => !this.#routed.has(it);
    const current = this.#currentTurn;
    const isPending = current !== null && (current.stopReason === null || current.stopReason === "completed");
    return {
      version: formatVersion,
      name: this.name,
      description: this.#description,
      toolNames: this.tools.map((tool) => tool.name),
      queue: this.turns.filter(isKept).map((turn) => turn.toJSON()),
      currentTurn: isPending ? current.toJSON() : null,
      contextQueue: {
        ...this.#contextQueue.toJSON(),
        items: this.#contextQueue.items.filter(isKept).map((item) => item.toJSON()),
      },
      contextPool: this.#contextPool.toJSON(),
      isPaused: this.#isPaused,
      tags: [...this.#tags],
    };
  }

  /**
   * Restores an agent and registers it. Its tools come from `tools`, else from the registry. A turn that was
   * under way when it was saved runs first, from its start.
   */
  static fromJSON(json: unknown, scope: ToolScope & Pick<AgentOptions, "registry"> = {}): Agent {
    checkOptions("options", scope, ["tools", "registry"]);
    const { registry } = chooseRegistry(scope.registry);
    const tools = scope.tools ? [...scope.tools] : [];
    const saved = new SavedObject(json, "agent");
    const readTurn = (data: unknown, path: string) => Turn.fromJSON(data, { tools, registry, path });

    // All that can fail comes before the agent is made, because making it registers it.
    const queue = saved.list("queue").map((turn, index) => readTurn(turn, `agent.queue[${index}]`));
    const current = saved.raw("currentTurn");
    const currentTurn = current === undefined ? null : readTurn(current, "agent.currentTurn");
    const isPaused = saved.boolean("isPaused") ?? false;
    const options: AgentOptions = {
      name: saved.string("name"),
      description: saved.optionalString("description") ?? "",
      tools: saved.strings("toolNames").map((name) => findTool(name, { tools, registry })),
      tags: saved.strings("tags"),
    };
    if (scope.registry !== undefined) options.registry = scope.registry;
    const [items, pool] = [saved.raw("contextQueue"), saved.raw("contextPool")];
    if (items !== undefined)
      options.contextQueue = ContextQueue.fromJSON(items, { registry, path: "agent.contextQueue" });
    if (pool !== undefined)
      options.contextPool = ContextPool.fromJSON(pool, { registry, path: "agent.contextPool" });
    const accepted = byName([...(options.tools as AnyTool[])]);
    for (const turn of currentTurn ? [currentTurn, ...queue] : queue)
      checkAccepted(turn, accepted, options.name);

    const agent = new Agent(options);
    for (const turn of queue) agent.#queue.push(turn);
    agent.#currentTurn = currentTurn;
    agent.#isPaused = isPaused;
    return agent;
  }

  /** Before a turn is taken from the queue: `(agent)`. Throwing leaves it there. */
  beforeTurn(fn: HookFunction<"agent.beforeTurn"> | Hook, options?: AttachOptions): Hook<"agent.beforeTurn"> {
    return this.#hooks.attach("agent.beforeTurn", fn, options);
  }

  /** After a turn has ended well and its values were passed on: `(agent, turn)`. */
  afterTurn(fn: HookFunction<"agent.afterTurn"> | Hook, options?: AttachOptions): Hook<"agent.afterTurn"> {
    return this.#hooks.attach("agent.afterTurn", fn, options);
  }

  /** For each value of a turn, after it was routed and before it is yielded: `(agent, turn, value)`. */
  onTurnValue(
    fn: HookFunction<"agent.onTurnValue"> | Hook,
    options?: AttachOptions,
  ): Hook<"agent.onTurnValue"> {
    return this.#hooks.attach("agent.onTurnValue", fn, options);
  }

  /** Before a turn is queued: `(agent, turn)`. Throwing keeps it out. */
  beforePut(fn: HookFunction<"agent.beforePut"> | Hook, options?: AttachOptions): Hook<"agent.beforePut"> {
    return this.#hooks.attach("agent.beforePut", fn, options);
  }

  /** After a turn was queued: `(agent, turn)`. */
  afterPut(fn: HookFunction<"agent.afterPut"> | Hook, options?: AttachOptions): Hook<"agent.afterPut"> {
    return this.#hooks.attach("agent.afterPut", fn, options);
  }

  /** When a paused run has reached the gate with work left: `(agent)`. */
  onPause(fn: HookFunction<"agent.onPause"> | Hook, options?: AttachOptions): Hook<"agent.onPause"> {
    return this.#hooks.attach("agent.onPause", fn, options);
  }

  /** When a run that stood at the gate goes on: `(agent)`. */
  onResume(fn: HookFunction<"agent.onResume"> | Hook, options?: AttachOptions): Hook<"agent.onResume"> {
    return this.#hooks.attach("agent.onResume", fn, options);
  }

  /** When a turn of this agent took too long: `(turn)`. */
  onTimeout(fn: HookFunction<"turn.onTimeout"> | Hook, options?: AttachOptions): Hook<"turn.onTimeout"> {
    return this.#turnHooks.attach("turn.onTimeout", fn, options);
  }

  /** When a turn of this agent has failed otherwise: `(turn, error)`. */
  onError(fn: HookFunction<"turn.onError"> | Hook, options?: AttachOptions): Hook<"turn.onError"> {
    return this.#turnHooks.attach("turn.onError", fn, options);
  }

  /** When a turn of this agent has ended, however it did: `(turn, stopReason)`. */
  onComplete(fn: HookFunction<"turn.onComplete"> | Hook, options?: AttachOptions): Hook<"turn.onComplete"> {
    return this.#turnHooks.attach("turn.onComplete", fn, options);
  }

  async *#loop(signal: AbortSignal, wait: boolean, graceMs: number): AsyncGenerator<TurnValue, void, void> {
    if (this.#isRunning)
      throw new SafeExecutionError(
        `The agent '${this.name}' is running already. Use put() to give it more work.`,
      );
    this.#isRunning = true;
    try {
      while (await this.#hasWork(signal, wait)) {
        const isDone = yield* this.#runNext(signal, graceMs);
        if (isDone) return;
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Waits at the gate while the agent is paused, and for work if it is to. */
  async #hasWork(signal: AbortSignal, wait: boolean): Promise<boolean> {
    while (true) {
      signal.throwIfAborted();
      if (this.#currentTurn === null && this.#queue.size === 0) {
        if (!wait) return false;
        await this.#sleep(signal);
      } else if (this.#isPaused) {
        await this.#tell("agent.onPause", signal, undefined, this);
        while (this.#isPaused) await this.#sleep(signal);
        await this.#tell("agent.onResume", signal, undefined, this);
      } else return true;
    }
  }

  /** Sleeps until `put()`, `resume()` or an abort. Whoever sleeps looks for itself what has changed. */
  #sleep(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wakeUp = () => {
        signal.removeEventListener("abort", onAbort);
        this.#wake = undefined;
      };
      const onAbort = () => {
        wakeUp();
        reject(signal.reason);
      };
      this.#wake = () => {
        wakeUp();
        resolve();
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort);
    });
  }

  /** Runs one turn. Gives true when it was a completion check that ends the run. */
  async *#runNext(signal: AbortSignal, graceMs: number): AsyncGenerator<TurnValue, boolean, void> {
    const restored = this.#currentTurn;
    const turn = restored ?? (this.#queue.peek() as Turn);
    await this.#tell("agent.beforeTurn", signal, turn, this);
    signal.throwIfAborted();
    if (!restored) this.#queue.shift();
    this.#currentTurn = turn;
    try {
      // One that had ended when it was saved must not run again: only its value is still to be passed on.
      if (restored?.stopReason !== "completed") yield* this.#execute(turn, signal, graceMs);
      if (turn.hasReturned) yield* this.#deliver(turn, turn.output, signal, { isLast: true });
      this.#forgetTurn();
      await this.#tell("agent.afterTurn", signal, turn, this, turn);
      return turn.tool.type === "completion_check" && turn.output === true;
    } finally {
      this.#forgetTurn();
    }
  }

  async *#execute(turn: Turn, signal: AbortSignal, graceMs: number): AsyncGenerator<TurnValue, void, void> {
    const options = { signal, graceMs, agent: this };
    if (!turn.tool.isStreaming) {
      await turn.returning(options);
      return;
    }
    const run = turn.yielding(options);
    try {
      for (let step = await run.next(); !step.done; step = await run.next())
        yield* this.#deliver(turn, step.value, signal, { isLast: false });
    } finally {
      await run.return();
    }
  }

  /** Routes a value, tells the hooks, and yields it if it is for the caller. */
  async *#deliver(
    turn: Turn,
    value: unknown,
    signal: AbortSignal,
    { isLast }: { isLast: boolean },
  ): AsyncGenerator<TurnValue, void, void> {
    const isRouted = await this.#route(value, signal);
    await this.#tell("agent.onTurnValue", signal, turn, this, turn, value);
    // From here on the value counts as passed on: a snapshot that the caller makes of it must not repeat it.
    if (isLast) this.#forgetTurn();
    if (!isRouted) yield [turn, value];
  }

  async #route(value: unknown, signal: AbortSignal): Promise<boolean> {
    if (value instanceof Turn) {
      this.#checkTurn(value);
      this.#routed.add(value);
      await this.#enqueue(value, signal);
      return true;
    }
    if (!(value instanceof ContextItem)) return false;
    if (value.id === null) {
      this.#routed.add(value);
      await this.#contextQueue.append(value);
    } else await this.#contextPool.add(value);
    return true;
  }

  #forgetTurn(): void {
    this.#currentTurn = null;
    this.#routed.clear();
  }

  async #enqueue(turn: Turn, signal: AbortSignal): Promise<void> {
    await this.#tell("agent.beforePut", signal, turn, this, turn);
    this.#queue.push(turn);
    this.#wake?.();
    await this.#tell("agent.afterPut", signal, turn, this, turn);
  }

  #checkTurn(turn: unknown): void {
    if (!(turn instanceof Turn))
      throw new InvalidTypeError({ field: "turn", expected: "a Turn", received: turn });
    checkAccepted(turn, this.#toolsByName, this.name);
  }

  #checkIdle(property: string): void {
    const state = this.#isRunning ? "running" : "paused";
    if (this.#isRunning || this.#isPaused)
      throw new SafeExecutionError(`Cannot change property '${property}' while the agent is ${state}.`);
  }

  #tell<E extends HookEvent>(
    event: E,
    signal: AbortSignal,
    turn: Turn | undefined,
    ...args: HookEvents[E]
  ): Promise<void> | undefined {
    const source = { hooks: [this.#hooks], registry: this.registry, tags: this.#tags };
    return fire(event, source, args, { agent: this, ...(turn && { turn, tool: turn.tool }), signal });
  }
}

function checkAccepted(turn: Turn, tools: ReadonlyMap<string, AnyTool>, agentName: string): void {
  const known = tools.get(turn.tool.name);
  if (known === turn.tool) return;
  const names = [...tools.keys()].join(", ") || "none";
  throw new InvalidArgumentError({
    field: "turn.tool",
    expected: `one of the tools of the agent '${agentName}' (${names})`,
    received: turn.tool.name,
    hint: known
      ? "The agent has another tool of that name, not the instance given."
      : "Give the agent that tool first.",
  });
}
