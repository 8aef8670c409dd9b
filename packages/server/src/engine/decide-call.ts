// What becomes of each call of a run: it runs where it belongs, waits for the client or a person, or is rejected.

import type { AnyTool } from "rondo";
import type { CallDecision, LoopOptions } from "rondo/loop";
import type { OfferedTool } from "../executor/executor.ts";
import { withSubtools } from "../executor/local/local-executor.ts";
import { isNamed } from "../executor/named-tools.ts";
import type { ToolIdentity } from "../executor/tool-identity.ts";
import type { Plan } from "./plan.ts";
import type { OpenCall, Progress } from "./resume.ts";

/** `progress` is what an earlier start of the run left. */
export function callDecider(
  plan: Plan,
  progress: Progress | undefined,
): NonNullable<LoopOptions["decideCall"]> {
  const { offer, request } = plan;
  const decideOpen = openCallDecider(plan, progress);
  const notAllowed = allowedTest(plan);
  // With `tool_choice: "none"` all calls go back to the client as they are.
  const runsNothing = request.tool_choice === "none";
  return ({ id, name, tool, rejection, isOpen }) => {
    if (isOpen) {
      const decision = decideOpen(id);
      return (decision.type === "run" && decision.tool && notAllowed(name, decision.tool)) || decision;
    }
    const refusal = notAllowed(name, tool);
    if (refusal) return { ...refusal, endsRun: runsNothing };
    if (rejection) return runsNothing ? { type: "reject", ...rejection, endsRun: true } : undefined;
    const offered = tool && offer.find(tool.name);
    if (runsNothing || (offered && !offered.runsHere)) return { type: "leave" };
    return { type: offered?.needsApproval ? "ask" : "run" };
  };
}

/**
 * Rejects calls of tools that `allowed_tools` leaves out, and of unknown ones: the model reads which it may call. All
 * are offered all the same, so that prompts stay cached.
 */
function allowedTest({ request, offer }: Plan) {
  const { allowed_tools: names } = request;
  if (!names) return () => undefined;
  const all = [...new Set(offer.tools.flatMap(withSubtools))];
  const allowed = all.filter((tool) => names.some((named) => isNamed(named, tool, offer)));
  const list = allowed.map(({ wireName }) => wireName).join(", ") || "none";
  return (name: string, tool: AnyTool | undefined) => {
    if (tool && allowed.includes(tool)) return undefined;
    const [reason, problem] = tool
      ? (["not_allowed", `Tool '${tool.name}' is not allowed`] as const)
      : (["unknown", name === "" ? "The call has no name" : `Tool '${name}' not found in registry`] as const);
    return { type: "reject", reason, error: `${problem}. The tools are: ${list}.` } as const;
  };
}

/** Decides about the calls that a run begins with: those that a person allowed, or that a crash interrupted. */
function openCallDecider(plan: Plan, progress: Progress | undefined): (id: string) => CallDecision {
  if (progress?.isAnnounced) {
    const open = new Map(progress.openCalls.map((call) => [call.callId, call]));
    return (id) => {
      const call = open.get(id);
      return call ? decideInterrupted(plan, call) : unknownCall;
    };
  }
  const approved = new Map(plan.approved?.map((request) => [request.id, request]));
  return (id) => {
    const request = approved.get(id);
    if (!request) return unknownCall;
    return runWhereItBelongs(plan, plan.offer.findSame(request.identity), {
      ...request,
      isApproved: true,
    });
  };
}

const reject = (error: string): CallDecision => ({ type: "reject", error });

/** A name alone is not enough to run a call: it may mean another tool by now. */
const unknownCall = reject(
  "It is not known where this call belongs, so it was not run. Call the tool again.",
);

function decideInterrupted(plan: Plan, call: OpenCall): CallDecision {
  const { shown, identity } = call;
  if (!("item" in shown)) return { type: "leave" };
  if (call.isRejected)
    return reject(call.error ?? "This call could not be run. Look at the tools, and call one of them.");
  const { label, name, approvalId } = shown.item;
  // Steps of older versions know the server and the tool by their names only.
  const found = identity ? plan.offer.findSame(identity) : plan.offer.findOn(label, name);
  if (call.isStarted && !(found?.canRunAgain ?? found?.tool.isIdempotent))
    return reject(
      "Tool use blocked: the server stopped while this call ran. Whether it has done its work is not known, so it is not run again.",
    );
  return runWhereItBelongs(plan, found, {
    identity: identity ?? { label, name },
    isApproved: approvalId !== undefined,
  });
}

function runWhereItBelongs(
  { request }: Plan,
  found: OfferedTool | undefined,
  call: { readonly identity: Pick<ToolIdentity, "label" | "name">; readonly isApproved: boolean },
): CallDecision {
  const { label, name } = call.identity;
  const notRun = (why: string) => reject(`The tool '${name}' of '${label}' was not run: ${why}`);
  if (request.tool_choice === "none") return notRun('tool_choice is "none".');
  if (!found?.runsHere)
    return notRun(
      "this server is not available now, or not among the tools of this request as it was when the call was made.",
    );
  if (found.needsApproval && !call.isApproved) return notRun("it needs approval now. Call it again.");
  return { type: "run", tool: found.tool };
}
