// Decides whether a call may run. In this order: known, allowed, valid, approved, let through by the hook.

import { hasLazy } from "../async/lazy.ts";
import { untilAborted } from "../async/until-aborted.ts";
import { checkBoolean, checkOptions, checkPlainObject } from "../error/check.ts";
import { InvalidInputError } from "../error/input-error.ts";
import { copyData } from "../json/copy.ts";
import { objectIn } from "../json/object-in.ts";
import { parseArguments, quoteArguments } from "../model/parse-arguments.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { RejectReason } from "./events.ts";
import type { OfferedTools } from "./offered-tools.ts";
import type { CallDecision, LoopOptions, PendingCall } from "./options.ts";

/** A call as the model made it. */
export interface RawCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly isTruncated: boolean;
}

export type CheckedCall =
  | {
      readonly raw: RawCall;
      readonly tool: AnyTool;
      readonly input: Record<string, unknown>;
      /** Whether `decideOpenCall` chose the tool: it runs here whatever `runsHere` says. Default: false. */
      readonly isDecided?: boolean;
    }
  /** One that the client answers, whether or not its tool is still offered. */
  | { readonly raw: RawCall; readonly input: Record<string, unknown>; readonly isForClient: true }
  | {
      readonly raw: RawCall;
      /** What the model wrote, where that can be read; else nothing. */
      readonly input: Record<string, unknown>;
      readonly reason: RejectReason;
      readonly error: string;
      readonly isDecided?: boolean;
    };

/** A call that will not run. */
export function rejectCall(raw: RawCall, reason: RejectReason, error: string) {
  return { raw, input: objectIn(raw.arguments) ?? {}, reason, error };
}

/** Checks a call that the conversation ends in, as `decideOpenCall` says. */
export async function checkOpenCall(
  raw: RawCall,
  tools: OfferedTools,
  options: Pick<LoopOptions, "canUseTool" | "beforeCall" | "decideOpenCall">,
  signal: AbortSignal,
): Promise<CheckedCall> {
  const decision = options.decideOpenCall?.({ id: raw.id, name: raw.name });
  if (!decision) return checkCall(raw, tools, options, signal);
  if ("error" in decision) return { ...rejectCall(raw, "denied", decision.error), isDecided: true };
  if ("isForClient" in decision) return { raw, input: objectIn(raw.arguments) ?? {}, isForClient: true };
  return { ...(await checkCall(raw, tools, options, signal, decision.tool)), isDecided: true };
}

/** Who may keep a valid call from running, in the order in which they are asked. */
const gates = [
  ["canUseTool", "denied", "Tool use denied"],
  ["beforeCall", "blocked", "Tool use blocked"],
] as const;

/**
 * After a check that took longer, timers and sockets have their turn: a hostile schema takes all of its budget, an
 * answer has many calls, and promises alone do not let anything else run.
 */
const maxBlockMs = 10;

/** `decided` is the tool, if the name is not to be looked up. Throws only what `canUseTool` and `beforeCall` throw: that ends the run. */
export async function checkCall(
  raw: RawCall,
  tools: OfferedTools,
  options: Pick<LoopOptions, "canUseTool" | "beforeCall" | "repairArguments"> &
    Partial<Pick<LoopOptions, "model">>,
  signal: AbortSignal,
  decided?: AnyTool,
): Promise<CheckedCall> {
  const reject = (reason: RejectReason, error: string) => rejectCall(raw, reason, error);

  const tool = decided ?? tools.find(raw.name);
  if (!tool)
    return reject("unknown", `Tool '${raw.name}' not found in registry. The tools are: ${tools.names}.`);
  if (!tools.isAllowed(tool))
    return reject("not_allowed", `Tool '${tool.name}' is not allowed. The tools are: ${tools.names}.`);
  if (raw.isTruncated)
    return reject(
      "truncated",
      `The arguments of '${tool.name}' were cut off and not run. Call it again with shorter arguments. They were: ${quoteArguments(raw.arguments)}`,
    );

  /** What was wrong with inputs, as JSON: repair may come back to one. */
  const problems = new Map<string, string>();
  const problemOf = async (value: Record<string, unknown>) => {
    const known = problems.size > 0 ? problems.get(JSON.stringify(value)) : undefined;
    if (known !== undefined) return known;
    const start = performance.now();
    const problem = await inputProblem(tool, value);
    if (problem !== undefined) problems.set(JSON.stringify(value), problem);
    if (performance.now() - start > maxBlockMs) await untilAborted(nextTurnOfLoop(), signal);
    return problem;
  };

  // Nearly always it is proper JSON that fits.
  const written = objectIn(raw.arguments);
  let input = written && withoutFixed(tool, written);
  if (!input || (await problemOf(input)) !== undefined) {
    const accepts = async (value: Record<string, unknown>) => (await problemOf(value)) === undefined;
    const repair = options.repairArguments ?? options.model?.profile.repairArguments;
    const parsed = await parseArguments(raw.arguments, accepts, tool.metadata.inputSchema, { repair });
    if ("error" in parsed) return reject("invalid", `${parsed.error}\nCall the tool again with valid JSON.`);
    input = withoutFixed(tool, parsed.input);
    const problem = await problemOf(input);
    if (problem !== undefined) return reject("invalid", problem);
  }

  for (const [gate, reason, words] of gates) {
    const ask = options[gate];
    if (!ask) continue;
    const call: PendingCall = { id: raw.id, name: tool.name, input, tool, signal };
    // Someone who is asked for approval may never answer; that must not hold a run that was aborted.
    const decision = checkDecision(await untilAborted(Promise.resolve(ask(call)), signal));
    if (decision?.continue === false)
      return reject(reason, `${words}: ${decision.reason ?? "no reason was given"}`);
    if (decision?.modifiedInput === undefined || decision.modifiedInput === null) continue;
    input = decision.modifiedInput;
    const newProblem = await inputProblem(tool, input);
    if (newProblem !== undefined) return reject("invalid", newProblem);
  }
  return { raw, tool, input };
}

/**
 * A decision in the words of another library must not let a call pass that it means to stop.
 * Throws: that ends the run.
 */
function checkDecision(decision: CallDecision | undefined | null): CallDecision | undefined | null {
  if (decision === undefined || decision === null) return decision;
  checkOptions("decision", decision, ["continue", "modifiedInput", "modifiedPrompt", "reason"]);
  if (decision.continue !== undefined) checkBoolean("decision.continue", decision.continue);
  if (decision.modifiedInput !== undefined && decision.modifiedInput !== null)
    checkPlainObject("decision.modifiedInput", decision.modifiedInput);
  return decision;
}

function nextTurnOfLoop(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}

/** What is wrong with an input, if anything. The turn validates it again when it runs. */
async function inputProblem(tool: AnyTool, input: Record<string, unknown>): Promise<string | undefined> {
  if (hasLazy(tool.fixed)) return undefined; // asking for those values is only for a call that really runs
  const result = await tool.parseInput(copyData({ ...input, ...tool.fixed }));
  return "issues" in result ? new InvalidInputError(tool.name, result.issues).message : undefined;
}

/** A model sees no fixed arguments, so what it writes for them is none of its business. */
function withoutFixed(tool: AnyTool, input: Record<string, unknown>): Record<string, unknown> {
  if (Object.keys(tool.fixed).length === 0) return input;
  const kept = Object.entries(input).filter(([key]) => !Object.hasOwn(tool.fixed, key));
  return Object.fromEntries(kept);
}
