// A call on its way to its tool: validated, then decided about. It runs here, is left open, or is rejected.

import { hasLazy } from "../async/lazy.ts";
import { untilAborted } from "../async/until-aborted.ts";
import { InvalidTypeError } from "../error/argument-errors.ts";
import { isPlainObject } from "../error/check.ts";
import { InvalidInputError } from "../error/input-error.ts";
import { copyData } from "../json/copy.ts";
import { objectIn } from "../json/object-in.ts";
import { parseArguments, quoteArguments } from "../model/parse-arguments.ts";
import type { InputResult } from "../tool/input-schema.ts";
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

/**
 * Throws only what `decideCall` throws, and for a decision that is none: that ends the run. Gives a promise only if
 * there is something to wait for.
 */
export function checkCall(raw: RawCall, options: CheckOptions): CheckedCall | Promise<CheckedCall> {
  const { tools, doubts } = options;
  const tool = tools.find(raw.name);
  if (raw.isFromText) doubts?.push("read from text");
  if (tool && tool.wireName !== raw.name) doubts?.push("loosely matched name");
  const call = validate(raw, tool, options);
  return call instanceof Promise
    ? call.then((validated) => decide(validated, tool, options))
    : decide(call, tool, options);
}

/** Asks `decideCall` about a call. */
function decide(
  call: CallHere,
  tool: AnyTool | undefined,
  options: CheckOptions,
): CheckedCall | Promise<CheckedCall> {
  const { tools, decideCall, signal, isOpen = false } = options;
  const { raw, input } = call;
  // The choice is only a request to the model, which may call in its text all the same.
  const undecided =
    options.toolChoice === "none" && !isOpen
      ? rejectCall(raw, "not_allowed", "No tool may be used here. Answer without a call.")
      : call;
  if (!decideCall || (tool && tools.isBuiltIn(tool))) return undecided;
  const rejection = call.decision === "reject" ? { reason: call.reason, error: call.error } : undefined;
  const name = tool?.name ?? raw.name;
  const pending = { id: raw.id, name, tool, input, isOpen, signal };
  const decided = decideCall(rejection ? { ...pending, rejection } : pending);
  const apply = (decision: CallDecision | undefined) =>
    decision === undefined || decision === null ? undecided : applyDecision(decision, call, tool, options);
  // A person who is asked may never answer; that must not hold a run that was aborted.
  const isPromise = typeof decided === "object" && decided !== null && "then" in decided;
  return isPromise ? untilAborted(decided, signal).then(apply) : apply(decided);
}

function applyDecision(
  decision: CallDecision,
  call: CallHere,
  tool: AnyTool | undefined,
  options: CheckOptions,
): CheckedCall | Promise<CheckedCall> {
  checkDecision(decision);
  const { raw, input } = call;
  if (decision.type === "reject")
    return rejectCall(raw, decision.reason ?? "denied", decision.error, decision.endsRun);
  if (decision.type === "ask") return { raw, decision: "ask", tool, input };
  if (decision.type === "leave" && (call.decision === "reject" || decision.input === undefined))
    return { raw, decision: "leave", tool, input: decision.input ?? input };
  const chosen = "tool" in decision && decision.tool ? decision.tool : tool;
  if (chosen === tool && decision.input === undefined) return call;
  return useOther(decision, call, tool, chosen, options);
}

/** A call with the tool or the input of a decision. */
async function useOther(
  { type, input }: Extract<CallDecision, { type: "run" | "leave" }>,
  call: CallHere,
  tool: AnyTool | undefined,
  chosen: AnyTool | undefined,
  options: CheckOptions,
): Promise<CheckedCall> {
  const { raw } = call;
  const own = chosen === tool ? call : await validate(raw, chosen, options);
  if (own.decision === "reject" || !chosen || input === undefined) return own;
  const problem = await inputProblem(chosen, input);
  return problem === undefined
    ? { raw, decision: type, tool: chosen, input }
    : rejectCall(raw, "invalid", problem);
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

function validate(
  raw: RawCall,
  tool: AnyTool | undefined,
  options: CheckOptions,
): CallHere | Promise<CallHere> {
  const { tools } = options;
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

  const written = objectIn(raw.arguments);
  if (!written) return validateAtLength(raw, tool, undefined, options);
  const input = withoutFixed(tool, written);
  const start = performance.now();
  const problem = inputProblem(tool, input);
  const isQuick = !(problem instanceof Promise) && performance.now() - start <= maxBlockMs;
  // Nearly always it is proper JSON that fits.
  if (isQuick && problem === undefined) return toRun(raw, tool, input, written, options);
  return validateAtLength(raw, tool, { written, input, start, problem }, options);
}

/** What was found about arguments that are JSON. */
interface FirstLook {
  readonly written: Input;
  readonly input: Input;
  readonly start: number;
  readonly problem: string | undefined | Promise<string | undefined>;
}

/** Validates what takes longer, and mends what does not fit, as far as it is clear what the model means. */
async function validateAtLength(
  raw: RawCall,
  tool: AnyTool,
  first: FirstLook | undefined,
  options: CheckOptions,
): Promise<CallHere> {
  const { repairArguments, model, signal, doubts } = options;
  /** The problems of inputs, by their JSON: repair may come back to one. */
  const problems = new Map<string, string>();
  const settle = async (value: Input, start: number, found: FirstLook["problem"]) => {
    const problem = await found;
    if (problem !== undefined) problems.set(JSON.stringify(value), problem);
    if (performance.now() - start > maxBlockMs) await untilAborted(nextMacrotask(), signal);
    return problem;
  };
  const problemOf = async (value: Input) => {
    const known = problems.size > 0 ? problems.get(JSON.stringify(value)) : undefined;
    return known ?? settle(value, performance.now(), inputProblem(tool, value));
  };
  if (first && (await settle(first.input, first.start, first.problem)) === undefined)
    return toRun(raw, tool, first.input, first.written, options);

  const accepts = async (value: Input) => (await problemOf(value)) === undefined;
  const repair = repairArguments ?? model?.profile.repairArguments;
  const parsed = await parseArguments(raw.arguments, accepts, tool.metadata.inputSchema, { repair });
  if ("error" in parsed)
    return rejectCall(raw, "invalid", `${parsed.error}\nCall the tool again with valid JSON.`);
  const input = withoutFixed(tool, parsed.input);
  const problem = await problemOf(input);
  if (problem !== undefined) return rejectCall(raw, "invalid", problem);
  if (first) doubts?.push("converted values");
  else if (raw.arguments.trim() !== "") doubts?.push("repaired arguments");
  return toRun(raw, tool, input, first?.written, options);
}

function toRun(
  raw: RawCall,
  tool: AnyTool,
  input: Input,
  written: Input | undefined,
  { doubts }: CheckOptions,
): CallHere {
  if (doubts && written && Object.keys(written).some((key) => Object.hasOwn(tool.fixed, key)))
    doubts.push("dropped fixed arguments");
  return { raw, decision: "run", tool, input };
}

function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}

/**
 * Why an input does not fit, if it does not. The turn validates it again when it runs. A promise only if the schema
 * needs one.
 */
export function inputProblem(tool: AnyTool, input: Input): string | undefined | Promise<string | undefined> {
  if (hasLazy(tool.fixed)) return undefined; // asking for those values is only for a call that really runs
  const toProblem = (result: InputResult) =>
    "issues" in result ? new InvalidInputError(tool.name, result.issues).message : undefined;
  const result = tool.parseInput(copyData({ ...input, ...tool.fixed }));
  return result instanceof Promise ? result.then(toProblem) : toProblem(result);
}

/** A model does not see fixed arguments, so that what it writes for them is dropped. */
function withoutFixed(tool: AnyTool, input: Input): Input {
  if (Object.keys(tool.fixed).length === 0) return input;
  const kept = Object.entries(input).filter(([key]) => !Object.hasOwn(tool.fixed, key));
  return Object.fromEntries(kept);
}
