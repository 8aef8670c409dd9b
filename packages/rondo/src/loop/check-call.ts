// A call on its way to its tool: validated, then decided about. It runs here, is left open, or is rejected.

import { hasLazy } from "../async/lazy.ts";
import { untilAborted } from "../async/until-aborted.ts";
import { InvalidTypeError } from "../error/argument-errors.ts";
import { isPlainObject } from "../error/check.ts";
import { InvalidInputError } from "../error/input-error.ts";
import { copyData } from "../json/copy.ts";
import { objectIn } from "../json/object-in.ts";
import { parseArguments, quoteArguments } from "../model/parse-arguments.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { RejectReason } from "./events.ts";
import type { OfferedTools } from "./offered-tools.ts";
import type { CallDecision, LoopOptions } from "./options.ts";

/** A call as the model made it. */
export interface RawCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly isTruncated: boolean;
  /** Whether it was found in the text of the answer. Default: false, or not known. */
  readonly isFromText?: boolean;
}

type Input = Record<string, unknown>;

/** A call that is left open: its tool may be gone since. */
interface LeftCall {
  readonly raw: RawCall;
  readonly decision: "leave" | "ask";
  readonly tool?: AnyTool | undefined;
  readonly input: Input;
}
interface RunnableCall {
  readonly raw: RawCall;
  readonly decision: "run";
  readonly tool: AnyTool;
  readonly input: Input;
}
export interface RejectedCall {
  readonly raw: RawCall;
  readonly decision: "reject";
  /** What can be read of the arguments. */
  readonly input: Input;
  readonly reason: RejectReason;
  readonly error: string;
  readonly endsRun?: boolean | undefined;
}

/** A call that the loop answers. */
export type CallHere = RunnableCall | RejectedCall;
export type CheckedCall = CallHere | LeftCall;

export interface CheckOptions
  extends Pick<LoopOptions, "decideCall" | "repairArguments">,
    Partial<Pick<LoopOptions, "model" | "toolChoice">> {
  readonly tools: OfferedTools;
  readonly signal: AbortSignal;
  /** Whether the conversation began with the call. Default: false. */
  readonly isOpen?: boolean;
  /** Gets what had to be guessed or mended to read the call. Default: nobody wants to know. */
  readonly doubts?: string[] | undefined;
}

export function rejectCall(
  raw: RawCall,
  reason: RejectReason,
  error: string,
  endsRun?: boolean,
): RejectedCall {
  return { raw, decision: "reject", input: objectIn(raw.arguments) ?? {}, reason, error, endsRun };
}

/** Throws only what `decideCall` throws, and for a decision that is none: that ends the run. */
export async function checkCall(raw: RawCall, options: CheckOptions): Promise<CheckedCall> {
  const { tools, decideCall, signal, isOpen = false } = options;
  const tool = tools.find(raw.name);
  if (raw.isFromText) options.doubts?.push("read from text");
  if (tool && tool.wireName !== raw.name) options.doubts?.push("loosely matched name");
  const call = await validate(raw, tool, options);
  // The choice is only a request to the model, which may call in its text all the same.
  const undecided =
    options.toolChoice === "none" && !isOpen
      ? rejectCall(raw, "not_allowed", "No tool may be used here. Answer without a call.")
      : call;
  if (!decideCall || (tool && tools.isBuiltIn(tool))) return undecided;
  const rejection = call.decision === "reject" ? { reason: call.reason, error: call.error } : undefined;
  const { input } = call;
  const name = tool?.name ?? raw.name;
  const decided = decideCall({
    id: raw.id,
    name,
    tool,
    input,
    ...(rejection && { rejection }),
    isOpen,
    signal,
  });
  // A person who is asked may never answer; that must not hold a run that was aborted.
  const isPromise = typeof decided === "object" && decided !== null && "then" in decided;
  const decision = isPromise ? await untilAborted(decided, signal) : decided;
  if (decision === undefined || decision === null) return undecided;
  checkDecision(decision);
  if (decision.type === "reject")
    return rejectCall(raw, decision.reason ?? "denied", decision.error, decision.endsRun);
  if (decision.type === "ask") return { raw, decision: "ask", tool, input };
  if (decision.type === "leave" && (rejection || decision.input === undefined))
    return { raw, decision: "leave", tool, input: decision.input ?? input };
  const chosen = "tool" in decision && decision.tool ? decision.tool : tool;
  const own = chosen === tool ? call : await validate(raw, chosen, options);
  if (own.decision === "reject" || !chosen || decision.input === undefined) return own;
  const problem = await inputProblem(chosen, decision.input);
  if (problem !== undefined) return rejectCall(raw, "invalid", problem);
  return { raw, decision: decision.type, tool: chosen, input: decision.input };
}

/** A decision in the words of another library must not let a call pass that it means to stop. */
function checkDecision(decision: CallDecision): void {
  const { type } = decision as Partial<CallDecision>;
  const isKnown = isPlainObject(decision) && ["run", "leave", "ask", "reject"].includes(type as string);
  if (isKnown && (decision.type !== "reject" || typeof decision.error === "string")) return;
  throw new InvalidTypeError({
    field: "decideCall()",
    expected: 'undefined or { type: "run" | "leave" | "ask" | "reject", … }, with an error to reject',
    received: decision,
  });
}

/**
 * A longer check is followed by a pause for timers and sockets: a hostile schema takes all of its budget, an answer
 * has many calls, and promises alone do not let anything else run.
 */
const maxBlockMs = 10;

async function validate(
  raw: RawCall,
  tool: AnyTool | undefined,
  { tools, repairArguments, model, signal, doubts }: CheckOptions,
): Promise<CallHere> {
  const reject = (reason: RejectReason, error: string) => rejectCall(raw, reason, error);
  if (raw.name === "") return reject("unknown", `The call has no name. The tools are: ${tools.names}.`);
  if (!tool)
    return reject("unknown", `Tool '${raw.name}' not found in registry. The tools are: ${tools.names}.`);
  if (!tools.isOffered(tool))
    return reject("not_allowed", `Tool '${tool.name}' is not allowed. The tools are: ${tools.names}.`);
  if (raw.isTruncated)
    return reject(
      "truncated",
      `The arguments of '${tool.name}' were cut off and not run. Call it again with shorter arguments. They were: ${quoteArguments(raw.arguments)}`,
    );

  /** The problems of inputs, by their JSON: repair may come back to one. */
  const problems = new Map<string, string>();
  const problemOf = async (value: Input) => {
    const known = problems.size > 0 ? problems.get(JSON.stringify(value)) : undefined;
    if (known !== undefined) return known;
    const start = performance.now();
    const problem = await inputProblem(tool, value);
    if (problem !== undefined) problems.set(JSON.stringify(value), problem);
    if (performance.now() - start > maxBlockMs) await untilAborted(nextMacrotask(), signal);
    return problem;
  };

  // Nearly always it is proper JSON that fits.
  const written = objectIn(raw.arguments);
  let input = written && withoutFixed(tool, written);
  if (!input || (await problemOf(input)) !== undefined) {
    const accepts = async (value: Input) => (await problemOf(value)) === undefined;
    const repair = repairArguments ?? model?.profile.repairArguments;
    const parsed = await parseArguments(raw.arguments, accepts, tool.metadata.inputSchema, { repair });
    if ("error" in parsed) return reject("invalid", `${parsed.error}\nCall the tool again with valid JSON.`);
    input = withoutFixed(tool, parsed.input);
    const problem = await problemOf(input);
    if (problem !== undefined) return reject("invalid", problem);
    if (written) doubts?.push("converted values");
    else if (raw.arguments.trim() !== "") doubts?.push("repaired arguments");
  }
  if (doubts && written && Object.keys(written).some((key) => Object.hasOwn(tool.fixed, key)))
    doubts.push("dropped fixed arguments");
  return { raw, decision: "run", tool, input };
}

function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}

/** Why an input does not fit, if it does not. The turn validates it again when it runs. */
export async function inputProblem(tool: AnyTool, input: Input): Promise<string | undefined> {
  if (hasLazy(tool.fixed)) return undefined; // asking for those values is only for a call that really runs
  const result = await tool.parseInput(copyData({ ...input, ...tool.fixed }));
  return "issues" in result ? new InvalidInputError(tool.name, result.issues).message : undefined;
}

/** A model does not see fixed arguments, so that what it writes for them is dropped. */
function withoutFixed(tool: AnyTool, input: Input): Input {
  if (Object.keys(tool.fixed).length === 0) return input;
  const kept = Object.entries(input).filter(([key]) => !Object.hasOwn(tool.fixed, key));
  return Object.fromEntries(kept);
}
