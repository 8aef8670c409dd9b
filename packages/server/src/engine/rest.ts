// What is left to do of a run: all of it, or what its earlier starts have not done.

import type { FinishReason, LoopOptions, RunReason } from "rondo";
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
        ...(progress && unknownOutcomes(plan, progress)),
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
      options: { ...unknownOutcomes(plan, progress), ...withoutTools },
      toReason: (reason, finishReason) => {
        if (reason !== "max_turns") return reason;
        return finishReason === "length" ? "length" : "completed";
      },
    };
  return {
    options: {
      ...unknownOutcomes(plan, progress),
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

type OpenCall = Progress["openCalls"][number];

/** Whether a call may be run (again) after a crash. */
function mayRun(plan: Plan, { isStarted, name, shown }: OpenCall): boolean {
  if (!isStarted || !("item" in shown)) return true;
  return plan.offer.find(name)?.tool.isIdempotent ?? false;
}

/** Calls that were started once and will not be started again. */
function callsDone(plan: Plan, { callsStarted, openCalls }: Progress): number {
  return callsStarted - openCalls.filter((call) => call.isStarted && mayRun(plan, call)).length;
}

/**
 * Keeps calls from being run twice. They are refused by the loop, and not answered before it, so that the answers
 * stay in the order of the calls.
 */
function unknownOutcomes(plan: Plan, { openCalls }: Progress): Pick<LoopOptions, "beforeCall"> {
  const ids = new Set(openCalls.filter((call) => !mayRun(plan, call)).map(({ callId }) => callId));
  if (ids.size === 0) return {};
  const reason =
    "the server stopped while this call ran. Whether it has done its work is not known, so it is not run again.";
  // Each id once: a later answer may use it for another call.
  return { beforeCall: async ({ id }) => (ids.delete(id) ? { continue: false, reason } : undefined) };
}
