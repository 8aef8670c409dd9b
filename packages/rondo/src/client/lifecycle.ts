// The life of a client: its states, and what each method does in each of them.

import type { Run } from "../async/run.ts";
import { SafeExecutionError } from "../error/execution-errors.ts";
import type { LoopEvent } from "../loop/events.ts";
import type { Usage } from "../model/provider.ts";
import type { BlockReader } from "./blocks.ts";

/** One run of the loop, from its request to its end. */
export interface ClientRun {
  readonly events: Run<LoopEvent>;
  /** Events that are read, but not received yet. */
  readonly buffer: LoopEvent[];
  readonly reader: BlockReader;
  /** Aborted when the run is left or interrupted. */
  readonly left: AbortController;
  /** What its answers cost so far. */
  usage?: Usage | undefined;
  /** What the first try cost, if this is the second. */
  readonly firstTry?: { readonly usage: Usage | undefined } | undefined;
  /** The loop over `receiveMessages()` that reads it, if one does. */
  receiver?: object | undefined;
  /** Set by `query("")`: the run that continues this one, or nothing if its request failed. */
  continuation?: Promise<ClientRun | undefined> | undefined;
}

/**
 * | method              | new      | idle     | starting | running               | stopping       |
 * | ------------------- | -------- | -------- | -------- | --------------------- | -------------- |
 * | `query()`           | starting | starting | refused  | refused ¹             | starting ²     |
 * | `receiveMessages()` | refused  | empty    | refused  | the blocks, once      | empty          |
 * | `interrupt()`       | nothing  | nothing  | stopping | stopping              | waits          |
 * | `messageHistory =`  | allowed  | allowed  | refused  | refused               | refused        |
 * | `addToolResult()`   | in every state: only the open calls matter, see conversation.ts            |
 *
 * ¹ `query("")` continues a run whose calls are the user's to answer.
 * ² Once the client has stopped.
 */
type ClientState = Resting | Starting | Running | Stopping;

/** No query was accepted yet (`new`), or the last run is over (`idle`). */
type Resting =
  | { readonly name: "new"; readonly run?: never }
  | { readonly name: "idle"; readonly run?: never };

/** From the call of `query()` until the server accepts the request. */
export interface Starting {
  readonly name: "starting";
  /** The state to return to if the query fails; with the run that this one continues, if any. */
  readonly previous: Resting | Running;
  /** The stop to wait for first. */
  readonly after: Promise<void> | undefined;
  readonly interrupted: AbortController;
  /** Set once the request is sent. */
  run?: ClientRun;
}

/** An answer is under way, received or not. */
export interface Running {
  readonly name: "running";
  readonly run: ClientRun;
}

/** Interrupted or left; tools clean up. */
interface Stopping {
  readonly name: "stopping";
  readonly run?: never;
  readonly done: Promise<void>;
}

const idle: Resting = { name: "idle" };

export class Lifecycle {
  #state: ClientState = { name: "new" };

  /** For a query or a second try; `mayContinue` says whether it may continue the run under way. */
  start(mayContinue: boolean): Starting {
    const state = this.#state;
    if (state.name === "starting" || (state.name === "running" && !mayContinue))
      throw busyError("start another query");
    const starting: Starting = {
      name: "starting",
      previous: state.name === "stopping" ? idle : state,
      after: state.name === "stopping" ? state.done : undefined,
      interrupted: new AbortController(),
    };
    this.#state = starting;
    return starting;
  }

  /** The query failed: nothing has changed. */
  cancelStart(starting: Starting): void {
    if (this.#state === starting) this.#state = starting.previous;
  }

  /** The server accepted the request; false if it was interrupted before. A loop over the previous run goes on. */
  accept(starting: Starting, run: ClientRun): boolean {
    if (this.#state !== starting) return false;
    run.receiver = starting.previous.run?.receiver;
    this.#state = { name: "running", run };
    return true;
  }

  finish(): void {
    this.#state = idle;
  }

  /** For `receiveMessages()`: what can be received. */
  receivable(): Resting | Running | Stopping {
    if (this.#state.name === "new" || this.#state.name === "starting")
      throw new SafeExecutionError("There is nothing to receive yet: call query() first, and await it.");
    return this.#state;
  }

  /** Ends whatever is under way, or only what `receiver` reads. Waits for a stop under way. */
  stop(end: (state: Starting | Running) => Promise<void>, receiver?: object): Promise<void> {
    const state = this.#state;
    if (state.name === "stopping") return state.done;
    if (state.name === "new" || state.name === "idle") return Promise.resolve();
    const { run } = state.name === "starting" ? state.previous : state;
    if (receiver && receiver !== run?.receiver) return Promise.resolve();
    const done = end(state).finally(() => {
      if (this.#state === stopping) this.#state = idle;
    });
    const stopping: Stopping = { name: "stopping", done };
    this.#state = stopping;
    return done;
  }

  /** For what is allowed only while nothing is under way. */
  checkResting(what: string): void {
    if (this.#state.name !== "new" && this.#state.name !== "idle") throw busyError(what);
  }
}

function busyError(what: string): SafeExecutionError {
  return new SafeExecutionError(
    `Cannot ${what} while an answer is under way. Receive it to its end, or interrupt() it first.`,
  );
}
