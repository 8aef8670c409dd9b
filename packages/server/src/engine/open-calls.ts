// Calls that a run begins with: those that a person has allowed, and those that a crash has left without an answer.
// Each runs where it belongs, or not at all.

import type { LoopOptions, OpenCallDecision } from "rondo";
import type { Offered } from "../executor/offer.ts";
import type { Plan } from "./plan.ts";
import type { Progress } from "./resume.ts";
import type { TurnCall } from "./steps.ts";

/** A call without an answer. */
export type OpenCall = TurnCall & { readonly isStarted: boolean };

/** `progress` is what an earlier start of the run has left. */
export function openCallDecider(
  plan: Plan,
  progress: Progress | undefined,
): NonNullable<LoopOptions["decideOpenCall"]> {
  if (progress?.isAnnounced) {
    const open = new Map(progress.openCalls.map((call) => [call.callId, call]));
    return ({ id }) => {
      const call = open.get(id);
      return call ? decide(plan, call) : unknownCall;
    };
  }
  const approved = new Map(plan.approved?.map((request) => [request.id, request]));
  return ({ id }) => {
    const request = approved.get(id);
    if (!request) return unknownCall;
    return whereItBelongs(plan, plan.offer.findSame(request.identity), { ...request, isApproved: true });
  };
}

/** A name alone is not enough to run a call: it may mean another tool by now. */
const unknownCall: OpenCallDecision = {
  error: "It is not known where this call belongs, so it was not run. Call the tool again.",
};

/** Whether a call may be run (again) after a crash. */
export function mayRunAgain({ offer }: Plan, call: OpenCall): boolean {
  if (!call.isStarted || !("item" in call.shown)) return true;
  return findSame(offer, call)?.tool.isIdempotent ?? false;
}

function decide(plan: Plan, call: OpenCall): OpenCallDecision {
  const { shown } = call;
  if (!("item" in shown)) return { isForClient: true };
  if (call.isRejected)
    return { error: call.error ?? "This call could not be run. Look at the tools, and call one of them." };
  if (!mayRunAgain(plan, call))
    return {
      error:
        "Tool use blocked: the server stopped while this call ran. Whether it has done its work is not known, so it is not run again.",
    };
  const { label, name, approvalId } = shown.item;
  const identity = call.identity ?? { label, name };
  return whereItBelongs(plan, findSame(plan.offer, call), { identity, isApproved: approvalId !== undefined });
}

/** Steps of older versions know the server and the tool by their names only. */
function findSame(offer: Plan["offer"], { identity, shown }: OpenCall): Offered | undefined {
  if (identity) return offer.findSame(identity);
  return "item" in shown ? offer.findOn(shown.item.label, shown.item.name) : undefined;
}

function whereItBelongs(
  { request }: Plan,
  found: Offered | undefined,
  call: {
    readonly identity: { readonly label: string; readonly name: string };
    readonly isApproved: boolean;
  },
): OpenCallDecision {
  const { label, name } = call.identity;
  if (request.tool_choice === "none")
    return { error: `The tool '${name}' of '${label}' was not run: tool_choice is "none".` };
  if (!found?.runsHere)
    return {
      error: `The tool '${name}' of '${label}' was not run: this server is not available now, or not among the tools of this request as it was when the call was made.`,
    };
  if (found.needsApproval && !call.isApproved)
    return { error: `The tool '${name}' of '${label}' was not run: it needs approval now. Call it again.` };
  return { tool: found.tool };
}
