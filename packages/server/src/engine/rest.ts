// What is left to do of a run: all of it, or what its earlier starts have not done.

import type { FinishReason, LoopOptions, RunReason } from "rondo";
import { mayRunAgain } from "./open-calls.ts";
import type { Plan } from "./plan.ts";
import type { Progress } from "./resume.ts";

export interface Rest {
  /** Set when nothing is left but to say how it has ended. */
  readonly reason?: RunReason;
  /** What the loop is told, besides the plan. */
  readonly options: Partial<LoopOptions>;
  /** The end of the loop, as that of the whole run. */
  toReason(reason: RunReason, finishReason: FinishReason): RunReason;
}

export function restOf(plan: Plan, progress: Progress | undefined): Rest {
  const maxToolCalls = plan.request.max_tool_calls;
  if (!progress?.lastAnswer) {
    // Calls that a person has allowed come before the first answer, and need a round of their own.
    const isOpen = (progress?.isAnnounced ? progress.openCalls : (plan.approved ?? [])).length > 0;
    return {
      options: {
        maxToolIterations: plan.maxTurns - (isOpen ? 0 : 1),
        ...(maxToolCalls !== undefined && {
          maxToolCalls: Math.max(0, maxToolCalls - (progress ? callsDone(plan, progress) : 0)),
        }),
      },
      toReason: (reason) => reason,
    };
  }
  const { turns, lastAnswer, openCalls } = progress;
  const isAnswered = openCalls.length === 0;
  const answered = lastAnswer.finishReason === "length" ? "length" : "completed";
  if (isAnswered && (!lastAnswer.hasCalls || progress.limit === "final")) return over(answered);

  const isAtTurnLimit = turns >= plan.maxTurns;
  const isLimited = progress.limit === "reached" || (isAtTurnLimit && progress.limit === "none");
  const limitReason = isAtTurnLimit ? "max_turns" : "max_tool_calls";
  if (isLimited && isAnswered && !plan.asksForFinalAnswer) return over(limitReason);
  if (progress.limit === "final" || (isLimited && isAnswered))
    return {
      options: withoutTools,
      toReason: (reason, finishReason) => {
        if (reason !== "max_turns") return reason;
        return finishReason === "length" ? "length" : "completed";
      },
    };
  return {
    options: {
      maxToolIterations: isLimited ? 0 : plan.maxTurns - turns - (isAnswered ? 1 : 0),
      ...(maxToolCalls !== undefined && {
        maxToolCalls: Math.max(0, maxToolCalls - callsDone(plan, progress)),
      }),
    },
    toReason: (reason) => (isLimited && reason === "max_turns" ? limitReason : reason),
  };
}

/** The last question, for an answer without calls. */
const withoutTools: Partial<LoopOptions> = {
  isAllowed: () => false,
  offersAll: false,
  maxToolIterations: 0,
  asksForFinalAnswer: false,
};

function over(reason: RunReason): Rest {
  return { reason, options: {}, toReason: () => reason };
}

/** The plan, once the model has answered: what was forced on it is done. */
export function unforced(plan: Plan): Plan {
  const { request } = plan;
  return request.tool_choice === "none" ? plan : { ...plan, request: { ...request, tool_choice: "auto" } };
}

/** Calls that were started once and will not be started again. */
function callsDone(plan: Plan, { callsStarted, openCalls }: Progress): number {
  return callsStarted - openCalls.filter((call) => call.isStarted && mayRunAgain(plan, call)).length;
}
