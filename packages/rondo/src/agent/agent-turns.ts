// The turns of an agent: those that wait, and those in flight. The agent and its run share them.

import { Bell } from "../async/bell.ts";
import { Deque } from "../async/deque.ts";
import { defaultGraceMs } from "../async/run.ts";
import type { Turn } from "../turn/turn.ts";
import { TurnInFlight } from "./turn-in-flight.ts";

export class AgentTurns {
  readonly queue = new Deque<Turn>();
  /** The turns that run, and those that ran when a restored agent was saved. */
  inFlight: TurnInFlight[] = [];
  /** Rung for new work and on resume. */
  readonly bell = new Bell();
  isRunning = false;
  isPaused = false;
  /** How long hooks have to finish once the run is aborted: that of the last run. */
  graceMs = defaultGraceMs;

  get isEmpty(): boolean {
    return this.inFlight.length === 0 && this.queue.size === 0;
  }

  /** The next turn: one that ran when the agent was saved, else the first of the queue. */
  get next(): Turn | undefined {
    return this.#restored?.turn ?? this.queue.peek();
  }

  /** Takes the next turn. It must start at once: a snapshot in between would not know that it is about to run. */
  take(): TurnInFlight {
    const restored = this.#restored;
    const flight = restored ?? new TurnInFlight(this.queue.shift() as Turn, { isStarted: true });
    if (!restored) this.inFlight.push(flight);
    flight.isStarted = true;
    return flight;
  }

  end(flight: TurnInFlight): void {
    const index = this.inFlight.indexOf(flight);
    if (index !== -1) this.inFlight.splice(index, 1);
  }

  get #restored(): TurnInFlight | undefined {
    return this.inFlight.find(({ isStarted }) => !isStarted);
  }
}
