// How far a run has come, as it is written down: enough to go on after a crash.

import type { FinishReason, Message } from "rondo";
import type { ResponseUsage } from "../protocol/response.ts";
import type { Step } from "../store/store.ts";
import type { OpenCall } from "./output.ts";

/** A call of one answer of the model. */
export interface TurnCall {
  /** The model's own id for it; another answer may use it again. */
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  /** Whether it could not be run: the model is told why. */
  readonly isRejected: boolean;
  /** How the client sees it: an id of ours for a call that it runs, an item for one that the server answers. */
  readonly shown:
    | { readonly clientCallId: string }
    | { readonly item: OpenCall }
    /** One that waits for a person: what it is asked by, and where it would run. */
    | { readonly approvalId: string; readonly label: string; readonly name: string };
}

export type RunStep =
  /** The model has answered, and all that it said is in the output. */
  | {
      readonly type: "turn";
      readonly turn: number;
      readonly message: Message;
      readonly finishReason: FinishReason;
      readonly usage: ResponseUsage;
      readonly calls: readonly TurnCall[];
    }
  /** The run begins with calls of an earlier answer, which a person has allowed. */
  | { readonly type: "approved"; readonly calls: readonly TurnCall[] }
  /** A tool is about to run. If nothing follows, nobody knows whether it has. */
  | { readonly type: "call.started"; readonly callId: string }
  /** A call has its answer. */
  | { readonly type: "call.finished"; readonly callId: string; readonly message: Message };

export function toStep(step: RunStep): Step {
  return step as unknown as Step;
}

export function readSteps(steps: readonly Step[]): RunStep[] {
  return steps as unknown as RunStep[];
}
