// How far a run has come, as it is written down: enough to go on after a crash.

import type { FinishReason, Message } from "rondo";
import type { ToolIdentity } from "../executor/tool-identity.ts";
import type { ResponseUsage } from "../protocol/response.ts";
import type { Step } from "../store/store.ts";
import type { OpenCall } from "./output.ts";

/** A call of one answer of the model. */
export interface TurnCall {
  /** The model's own id for it; another answer may use it again. */
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  /** The tool that it belongs to. None for a tool that there is not; older steps have none either. */
  readonly identity?: ToolIdentity;
  /** Whether it could not be run: the model is told why. */
  readonly isRejected: boolean;
  /** What the model is told then; older steps do not have it. */
  readonly error?: string;
  /** How the client sees it: an id of ours for a call that it runs, an item for one that the server answers. */
  readonly shown:
    | { readonly clientCallId: string }
    | { readonly item: OpenCall }
    /** One that waits for a person: what it is asked by. */
    | { readonly approvalId: string };
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
  | {
      readonly type: "call.finished";
      readonly callId: string;
      readonly message: Message;
      /** Set if it could not be run after a crash, and not because of a limit. */
      readonly isRefused?: true;
    };

export function toStep(step: RunStep): Step {
  return step as unknown as Step;
}

export function readSteps(steps: readonly Step[]): RunStep[] {
  return steps as unknown as RunStep[];
}
