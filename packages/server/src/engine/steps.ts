// How far a run has come, as it is stored: enough to continue after a crash.

import type { JsonObject, JsonValue, Message } from "rondo";
import type { RunState } from "rondo/loop";
import type { ShownCall } from "../executor/executor.ts";
import type { ToolIdentity } from "../executor/tool-identity.ts";
import { ApiError } from "../protocol/api-error.ts";
import type { ResponseUsage } from "../protocol/response.ts";
import type { Step } from "../store/store.ts";
import { type OldStep, type StepLimits, upgradeSteps } from "./old-steps.ts";

/** A call of one answer of the model. */
export interface StoredCall {
  /** The model's own id for it; another answer may use it again. */
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  /** The tool that it belongs to. None for an unknown tool; older steps have none either. */
  readonly identity?: ToolIdentity;
  /** Whether it could not be run: the model reads why. */
  readonly isRejected: boolean;
  /** What the model reads then; older steps do not have it. */
  readonly error?: string;
  /** How the client sees it. */
  readonly shown: /** A call that the client runs: our id for it. */
    | { readonly clientCallId: string }
    /** A call that the server answers: its item. Older steps have no type: `mcp_call`. */
    | { readonly item: ShownCall; readonly type?: string }
    /** A call that waits for a person: the id of the request. */
    | { readonly approvalId: string };
}

/** The version of the steps that are written. Steps without one are older. */
const stepVersion = 2;

type StepBody =
  /** The model answered, and all that it said is in the output. */
  | {
      readonly type: "answer";
      /** Its number among the answers of the response, from 0. */
      readonly answer: number;
      readonly message: Message;
      readonly usage: ResponseUsage;
      readonly calls: readonly StoredCall[];
    }
  /** The model server is away, and the run waits for it. It is over with the next answer. */
  | {
      readonly type: "model.away";
      readonly sinceMs: number;
      /** What an answer cost that broke off. */
      readonly usage?: ResponseUsage;
    }
  /** The run begins with calls of an earlier answer, which a person allowed. */
  | { readonly type: "approved"; readonly calls: readonly StoredCall[] }
  /** The span of one start of the run: a later one is linked to it. */
  | { readonly type: "traced"; readonly traceparent: string; readonly tracestate?: string }
  /** A tool is about to run. If nothing follows, nobody knows whether it did. */
  | { readonly type: "call.started"; readonly callId: string }
  /** A running call changed its item, or asked to keep something for a crash. */
  | {
      readonly type: "call.updated";
      readonly callId: string;
      readonly item?: JsonObject;
      readonly keep?: JsonValue;
    }
  /** A call has its answer. */
  | { readonly type: "call.finished"; readonly callId: string; readonly message: Message };

/** A fact about a run. `state` is the loop's, with the first step after it changed. */
export type RunStep = { readonly version: number; readonly state?: RunState } & StepBody;
export type NewStep = StepBody & { readonly state?: RunState };

export function toStep(step: NewStep): Step {
  return { version: stepVersion, ...step } as unknown as Step;
}

/** Steps of any version. Throws an `ApiError` for those of a later one. */
export function readSteps(steps: readonly Step[], limits: StepLimits): RunStep[] {
  const later = steps.find(({ version = 1 }) => typeof version !== "number" || version > stepVersion);
  if (later)
    throw new ApiError(
      `This run was stored by a later version of the server (steps of version ${JSON.stringify(later["version"])}, this one reads ${stepVersion}), so this one cannot continue it. Update the server.`,
      { status: 500, type: "server_error", code: "unknown_step_version" },
    );
  const read = steps as unknown as (RunStep | OldStep)[];
  const isOld = (step: RunStep | OldStep): step is OldStep => !("version" in step);
  const old = read.filter(isOld);
  return [...upgradeSteps(old, limits), ...read.filter((step): step is RunStep => !isOld(step))];
}
