// One run of an agent: takes its turns in order, one at a time or several at once, and routes the values that they
// produce.

import { backoffMs } from "../async/backoff.ts";
import { Lanes } from "../async/lanes.ts";
import { sleep } from "../async/until-aborted.ts";
import { ContextItem } from "../context/context-item.ts";
import { SafeExecutionError } from "../error/execution-errors.ts";
import { warn } from "../error/logger.ts";
import type { HookEvent, HookEvents } from "../hook/events.ts";
import { waitWithGrace } from "../hook/wait-with-grace.ts";
import { type OnTrace, RunTrace } from "../trace/run-trace.ts";
import { Turn } from "../turn/turn.ts";
import type { Agent } from "./agent.ts";
import type { AgentTurns } from "./agent-turns.ts";
import type { TurnValue } from "./agent-values.ts";
import type { TurnInFlight } from "./turn-in-flight.ts";
import { attemptsOf, isRetried, type TurnRetryPolicy } from "./turn-retries.ts";

/** Calls the hooks of an agent. */
export type FireAgentHooks = <E extends HookEvent>(
  event: E,
  signal: AbortSignal,
  turn: Turn | undefined,
  ...args: HookEvents[E]
) => Promise<void> | undefined;

export interface AgentRunSetup {
  readonly agent: Agent;
  readonly turns: AgentTurns;
  /** Whether to wait at an empty queue. */
  readonly wait: boolean;
  readonly graceMs: number;
  readonly concurrency: number;
  readonly retries: TurnRetryPolicy | null;
  readonly onTrace: OnTrace | undefined;
  readonly fire: FireAgentHooks;
  /** Queues a turn that a tool gave; throws if it is not one of the agent's. */
  readonly checkTurn: (turn: Turn) => void;
  readonly enqueue: (turn: Turn, signal: AbortSignal) => Promise<void>;
}

type TurnLanes = Lanes<TurnInFlight, TurnValue, boolean>;
type Values<R> = AsyncGenerator<TurnValue, R, void>;

export class AgentRun {
  readonly #setup: AgentRunSetup;
  readonly #agent: Agent;
  readonly #turns: AgentTurns;
  readonly #signal: AbortSignal;
  readonly #trace: RunTrace | undefined;

  constructor(setup: AgentRunSetup, signal: AbortSignal) {
    this.#setup = setup;
    this.#agent = setup.agent;
    this.#turns = setup.turns;
    this.#signal = signal;
    this.#trace = setup.onTrace && new RunTrace(setup.onTrace);
  }

  async *values(): Values<void> {
    const turns = this.#turns;
    if (turns.isRunning)
      throw new SafeExecutionError(
        `The agent '${this.#agent.name}' is already running. Use put() to give it more work.`,
      );
    turns.isRunning = true;
    turns.graceMs = this.#setup.graceMs;
    const trace = this.#trace;
    trace?.start(this.#agent.name);
    try {
      if (this.#setup.concurrency > 1) yield* this.#runSeveral();
      else
        while (await this.#hasWork()) {
          await this.#announceNext();
          const isDone = yield* this.#runTurn(turns.take());
          if (isDone) break;
        }
      trace?.finish("completed");
    } catch (error) {
      if (error !== this.#signal.reason) trace?.fail(error);
      throw error;
    } finally {
      trace?.finish("aborted"); // by its signal, or left
      turns.isRunning = false;
    }
  }

  /**
   * Runs up to `concurrency` turns at once. They start in the order of the queue. After a failure no other turn starts,
   * and the run fails when those in flight ended.
   */
  async *#runSeveral(): Values<void> {
    const signal = this.#signal;
    const { bell } = this.#turns;
    const lanes: TurnLanes = new Lanes(() => bell.ring());
    let failure: { readonly error: unknown } | undefined;
    let isDone = false;
    const mayStart = () => !failure && !isDone;
    const fail = (error: unknown) => {
      if (signal.aborted) throw error;
      if (failure) warn("Another turn failed while the run was ending.", error);
      failure ??= { error };
    };
    try {
      while (lanes.size > 0 || (mayStart() && (await this.#hasWork()))) {
        try {
          if (mayStart()) await this.#startTurns(lanes);
        } catch (error) {
          fail(error);
        }
        const arrival = lanes.take();
        if (!arrival) {
          if (lanes.size > 0) await bell.sleep(signal);
        } else if ("error" in arrival) fail(arrival.error);
        else if (arrival.step.done) isDone ||= arrival.step.value;
        else {
          if (arrival.key.isLastValue) this.#turns.end(arrival.key);
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

  async #startTurns(lanes: TurnLanes): Promise<void> {
    while (lanes.size < this.#setup.concurrency && !this.#turns.isPaused) {
      const { next } = this.#turns;
      if (!next || lanes.keys().some((flight) => flight.precedes(next))) return;
      await this.#announceNext();
      const flight = this.#turns.take();
      lanes.add(flight, this.#runTurn(flight));
    }
  }

  /** Waits while the agent is paused, and for work if `wait` is true. */
  async #hasWork(): Promise<boolean> {
    const turns = this.#turns;
    while (true) {
      this.#signal.throwIfAborted();
      if (turns.isEmpty) {
        if (!this.#setup.wait) return false;
        await turns.bell.sleep(this.#signal);
      } else if (turns.isPaused) {
        await this.#fire("agent.onPause", undefined, this.#agent);
        while (turns.isPaused) await turns.bell.sleep(this.#signal);
        await this.#fire("agent.onResume", undefined, this.#agent);
      } else return true;
    }
  }

  async #announceNext(): Promise<void> {
    await this.#fire("agent.beforeTurn", this.#turns.next, this.#agent);
    this.#signal.throwIfAborted();
  }

  /** Runs one turn. Returns whether it was a completion check that ends the run. */
  async *#runTurn(flight: TurnInFlight): Values<boolean> {
    const { turn } = flight;
    try {
      // A turn that completed before it was saved must not run again: only its value is passed on.
      if (!flight.isRestoredResult) yield* this.#execute(flight);
      if (turn.hasReturned) yield* this.#deliver(flight, turn.output, { isLast: true });
      this.#turns.end(flight);
      await this.#fire("agent.afterTurn", turn, this.#agent, turn);
      return turn.tool.type === "completion_check" && turn.output === true;
    } finally {
      this.#turns.end(flight);
    }
  }

  /** Runs the tool, again if it throws and may be retried. */
  async *#execute(flight: TurnInFlight): Values<void> {
    const policy = this.#setup.retries;
    const attempts = attemptsOf(flight.turn, policy);
    for (let count = 1; ; count += 1) {
      flight.mayRetry = count < attempts;
      try {
        yield* this.#attempt(flight);
        return;
      } catch (error) {
        if (!(policy && flight.mayRetry && isRetried(error, flight.turn, policy))) throw error;
        await sleep(backoffMs(count, policy), this.#signal);
      }
    }
  }

  async *#attempt(flight: TurnInFlight): Values<void> {
    const { turn } = flight;
    const options = {
      signal: this.#signal,
      graceMs: this.#setup.graceMs,
      agent: this.#agent,
      ...(this.#trace && { tracer: this.#trace }),
    };
    if (!turn.tool.isStreaming) {
      await turn.returning(options);
      return;
    }
    const run = turn.yielding(options);
    try {
      for (let step = await run.next(); !step.done; step = await run.next()) {
        flight.mayRetry = false; // another attempt would repeat the value
        yield* this.#deliver(flight, step.value, { isLast: false });
      }
    } finally {
      await run.return();
    }
  }

  /** Routes a value, fires the hooks, and yields it if it was not routed. */
  async *#deliver(flight: TurnInFlight, value: unknown, { isLast }: { isLast: boolean }): Values<void> {
    const { turn } = flight;
    const isRouted = await this.#route(flight, value);
    await this.#fire("agent.onTurnValue", turn, this.#agent, turn, value);
    // From here on the value counts as passed on: a snapshot that the caller takes must not repeat it.
    // With several turns at once, it may have to wait for the caller first.
    flight.isLastValue = isLast;
    if (isLast && this.#setup.concurrency === 1) this.#turns.end(flight);
    if (!isRouted) yield [turn, value];
  }

  async #route(flight: TurnInFlight, value: unknown): Promise<boolean> {
    if (!(value instanceof Turn || value instanceof ContextItem)) return false;
    if (value instanceof Turn) this.#setup.checkTurn(value);
    const { contextQueue, contextPool } = this.#agent;
    flight.recordableEffects().record(value, flight.isCompleted, contextQueue, contextPool);
    if (value instanceof Turn) {
      await this.#setup.enqueue(value, this.#signal);
      return true;
    }
    const kept = value.id === null ? contextQueue.append(value) : contextPool.add(value);
    await waitWithGrace(kept, "the agent's context", this.#signal, this.#setup.graceMs);
    return true;
  }

  #fire<E extends HookEvent>(
    event: E,
    turn: Turn | undefined,
    ...args: HookEvents[E]
  ): Promise<void> | undefined {
    return this.#setup.fire(event, this.#signal, turn, ...args);
  }
}
