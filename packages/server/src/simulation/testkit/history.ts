// What happened in a simulation, as the checker reads it.

import type { InputItem } from "../../protocol/items.ts";
import type { ResponseStatus } from "../../protocol/status.ts";

/** A response in the database, whatever became of it. */
export interface ResponseFacts {
  readonly id: string;
  readonly isBackground: boolean;
  readonly conversation: string | undefined;
  readonly previous: string | undefined;
  /** The order in which responses were created. */
  readonly serial: number;
  readonly input: readonly InputItem[];
  /** All accepted events. */
  readonly log: string[];
  /** All leases, in their order. */
  readonly leases: LeaseFacts[];
  status: ResponseStatus;
  errorCode: string | undefined;
  isRemoved: boolean;
  /** When its cancellation was requested first. */
  cancelledAtMs: number | undefined;
  endedAtMs: number | undefined;
  /** The number of the last answer that was kept. */
  answer: number;
  /** The calls of which a result was kept, by their idempotency keys, with the time. */
  readonly finishedCalls: Map<string, number>;
}

export interface LeaseFacts {
  readonly fence: number;
  readonly life: string;
  readonly atMs: number;
  untilMs: number;
  /** When it would have expired if its session had not ended. */
  longestMs: number;
}

/** One run of a tool's function. */
export interface Execution {
  readonly key: string;
  readonly tool: string;
  readonly responseId: string;
  readonly story: string;
  readonly life: string;
  readonly startedAtMs: number;
  /** When it returned or was aborted; undefined if its process died first. */
  endedAtMs: number | undefined;
  wasAborted: boolean;
}

/** What a client read of one stream, over all its connections. */
export interface Reading {
  readonly responseId: string;
  /** The number of the event before the first one that it asked for. */
  readonly after: number;
  readonly events: { readonly sequence: number; readonly data: string }[];
  /** When it got its last event. */
  lastAtMs: number;
}

/** The prompt of a story's last answer. */
export interface Prompt {
  readonly story: string;
  /** Who said what before this story: `user NAME` and `end NAME`. */
  readonly before: readonly string[];
}

export class History {
  readonly responses = new Map<string, ResponseFacts>();
  readonly executions: Execution[] = [];
  readonly readings: Reading[] = [];
  /** By the name of the story, the newest last. */
  readonly prompts: Prompt[] = [];
  /** The responses whose creation was acknowledged to a client. */
  readonly acknowledged = new Set<string>();
  /** The times in which a life did nothing, because it was frozen. */
  readonly frozen: { readonly life: string; readonly fromMs: number; untilMs: number }[] = [];
  /** The times in which a life, or all of them, could not reach the database, or messages got lost. */
  readonly outOfTouch: {
    readonly life: string | undefined;
    readonly fromMs: number;
    readonly untilMs: number;
  }[] = [];
  /** What is wrong for certain, as soon as it happens. */
  readonly flaws: string[] = [];
  /** What happened, for whoever reads a failure. */
  readonly lines: string[] = [];
  readonly figures = { takeOvers: 0, refusedWrites: 0, unknownOutcomes: 0, reconnects: 0 };

  note(atMs: number, text: string): void {
    this.lines.push(`${(atMs / 1000).toFixed(3).padStart(9)} ${text}`);
  }
}
