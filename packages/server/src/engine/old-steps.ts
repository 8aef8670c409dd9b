// Steps of the first version, which stored no state of the loop: it is worked out from what they say.

import type { Message } from "rondo";
import type { RunState } from "rondo/loop";
import type { FinishReason } from "rondo/models";
import type { ResponseUsage } from "../protocol/response.ts";
import type { RunStep, StoredCall } from "./steps.ts";

/** A step of the first version. */
export type OldStep =
  | {
      readonly type: "turn";
      readonly turn: number;
      readonly message: Message;
      readonly finishReason: FinishReason;
      readonly usage: ResponseUsage;
      readonly calls: readonly StoredCall[];
    }
  | { readonly type: "approved"; readonly calls: readonly StoredCall[] }
  | { readonly type: "call.started"; readonly callId: string }
  | {
      readonly type: "call.finished";
      readonly callId: string;
      readonly message: Message;
      /** Set if it could not be run after a crash. */
      readonly isRefused?: true;
    };

/** The limits of the run, which the state depends on. */
export interface StepLimits {
  /** How many times the model is asked at most. */
  readonly maxTurns: number;
  readonly maxToolCalls: number;
}

/** The same steps in the second version, the last one with the state that the run was in. */
export function upgradeSteps(steps: readonly OldStep[], limits: StepLimits): RunStep[] {
  const upgraded = steps.map((step): RunStep => {
    if (step.type !== "turn") return { version: 1, ...step };
    const { turn: answer, message, usage, calls } = step;
    return { version: 1, type: "answer", answer, message, usage, calls };
  });
  const last = upgraded.at(-1);
  const state = stateOf(steps, limits);
  return last && state ? [...upgraded.slice(0, -1), { ...last, state }] : upgraded;
}

/** Undefined before the first round: a run without a state counts that itself. */
function stateOf(steps: readonly OldStep[], { maxTurns, maxToolCalls }: StepLimits): RunState | undefined {
  let answers = 0;
  let rounds = 0;
  let started = new Set<string>();
  let callsRun = 0;
  let finishReason: FinishReason = "unknown";
  let isFinalAnswer = false;
  let isLimited = false;
  let open = new Map<string, StoredCall>();
  for (const step of steps) {
    if (step.type === "turn" || step.type === "approved") {
      if (isLimited && step.type === "turn") isFinalAnswer = true;
      callsRun += started.size;
      started = new Set();
      open = new Map(step.calls.map((call) => [call.callId, call]));
      if (step.calls.some(({ shown }) => "item" in shown)) rounds += 1;
      if (step.type === "turn") {
        answers += 1;
        finishReason = step.finishReason;
      }
    } else if (step.type === "call.started") started.add(step.callId);
    else {
      const call = open.get(step.callId);
      // Only a limit keeps a valid call from running, unless its server is gone.
      if (call && answers > 0 && isRunnable(call) && !step.isRefused && !started.has(step.callId))
        isLimited = true;
      open.delete(step.callId);
    }
  }
  if (answers === 0 && started.size === 0) return undefined;
  const waiting = [...open.values()].filter((call) => isRunnable(call) && !started.has(call.callId));
  const maxRounds = maxTurns - (steps[0]?.type === "approved" ? 0 : 1);
  const isLastRound = rounds > maxRounds && ![...open.values()].some(({ shown }) => !("item" in shown));
  const mayRun = isLastRound || isLimited ? 0 : Math.max(0, maxToolCalls - callsRun - started.size);
  const overLimit = waiting.slice(mayRun).map(({ callId }) => callId);
  const limit = isLastRound ? "max_turns" : isLimited || overLimit.length > 0 ? "max_tool_calls" : undefined;
  return {
    version: 1,
    answers,
    rounds,
    callsRun: callsRun + started.size + waiting.length - overLimit.length,
    fruitlessAnswers: 0,
    finishReason,
    ...(limit && { limit }),
    ...(overLimit.length > 0 && { overLimit }),
    ...(isFinalAnswer && { isFinalAnswer: true as const }),
  };
}

function isRunnable({ isRejected, shown }: StoredCall): boolean {
  return !isRejected && "item" in shown;
}
