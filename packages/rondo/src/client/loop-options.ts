// What a client asks of the loop.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { checkBoolean, checkOptions, checkPlainObject, isPlainObject } from "../error/check.ts";
import { inputProblem } from "../loop/check-call.ts";
import type { CallDecision, LoopOptions, PendingCall } from "../loop/options.ts";
import type { ToolCall } from "../model/message.ts";
import type { HookDecision } from "./client-hooks.ts";
import type { CheckedOptions } from "./client-options.ts";
import type { Conversation } from "./conversation.ts";
import type { HookRunner } from "./hook-runner.ts";
import type { StructuredOutput } from "./structured-output.ts";

export function loopOptions(
  options: CheckedOptions,
  output: StructuredOutput | undefined,
  hooks: HookRunner,
  conversation: Conversation,
): LoopOptions {
  const { model, tools, settings, parallelToolCalls, maxToolIterations, maxRepeats } = options;
  const { graceMs, signal, onTrace } = options;
  const answerTool = output?.answerTool;
  const format = output?.format;
  return {
    model,
    settings,
    parallelToolCalls,
    maxToolIterations,
    tellsCallPieces: options.includeToolUseDeltas,
    promptWatch: conversation.promptWatch,
    onPromptCut: options.onPromptCut,
    tools: answerTool ? [...tools.all, answerTool] : tools.all,
    isOffered: (tool) => tool === answerTool || options.isAllowed(tool),
    decideCall: callDecider(options, hooks, answerTool),
    onMessage: (message, clientCalls) => {
      const ids = new Set(clientCalls);
      const isForUser = (call: ToolCall) => ids.has(call.id) && call.function.name !== answerTool?.wireName;
      conversation.add(message, isForUser);
    },
    ...(format && { output: format }),
    ...(maxRepeats !== undefined && { maxRepeats }),
    ...(options.maxResultTokens !== undefined && { maxResultTokens: options.maxResultTokens }),
    ...(options.maxTools !== undefined && { maxTools: options.maxTools }),
    ...(options.repairArguments !== undefined && { repairArguments: options.repairArguments }),
    ...(graceMs !== undefined && { graceMs }),
    ...(onTrace && { onTrace }),
    ...(signal && { signal }),
  };
}

/**
 * Each call is run here, or left to the user in manual mode, if permission and hooks let it pass. Where nothing runs
 * here, the user decides when the model is asked again, also after calls that cannot run.
 */
function callDecider(
  { autoExecuteTools, tools, canUseTool, hooks: { pre_tool_use: preToolUse } }: CheckedOptions,
  hooks: HookRunner,
  answerTool: PendingCall["tool"],
): NonNullable<LoopOptions["decideCall"]> {
  const endsRun = !(autoExecuteTools && tools.all.length > 0);
  const type = autoExecuteTools ? "run" : "leave";
  const gates = [
    ...(canUseTool ? [gate("denied", (call) => askUser(canUseTool, call))] : []),
    ...(preToolUse ? [gate("blocked", (call) => hooks.beforeCall(call))] : []),
  ];
  const pass = async (call: PendingCall): Promise<CallDecision> => {
    let { input } = call;
    for (const check of gates) {
      const checked = await check({ ...call, input });
      if ("type" in checked) return { ...checked, endsRun };
      input = checked.input;
    }
    return { type, input };
  };
  return (call) => {
    if (call.rejection) return { type: "reject", ...call.rejection, endsRun };
    // The answer itself needs no permission.
    if (call.tool === answerTool) return { type: "leave" };
    return gates.length > 0 ? pass(call) : { type };
  };
}

type Rejection = Extract<CallDecision, { type: "reject" }>;
type Gate = (call: PendingCall) => Promise<Rejection | { readonly input: Record<string, unknown> }>;

function gate(
  reason: "denied" | "blocked",
  ask: (call: PendingCall) => Promise<HookDecision | undefined>,
): Gate {
  return async (call) => {
    const decision = checkDecision(await ask(call));
    if (decision?.continue === false)
      return {
        type: "reject",
        reason,
        error: `Tool use ${reason}: ${decision.reason ?? "no reason was given"}`,
      };
    const input = decision?.modifiedInput ?? undefined;
    if (!input) return call;
    const problem = call.tool && (await inputProblem(call.tool, input));
    return problem === undefined ? { input } : { type: "reject", reason: "invalid", error: problem };
  };
}

/** Throws for a decision in the words of another library: it must not let a call pass that it means to stop. */
function checkDecision(decision: HookDecision | undefined | null): HookDecision | undefined | null {
  if (decision === undefined || decision === null) return decision;
  checkOptions("decision", decision, ["continue", "modifiedInput", "modifiedPrompt", "reason"]);
  if (decision.continue !== undefined) checkBoolean("decision.continue", decision.continue);
  if (decision.modifiedInput !== undefined && decision.modifiedInput !== null)
    checkPlainObject("decision.modifiedInput", decision.modifiedInput);
  return decision;
}

/** A plain yes or no is a decision too. */
async function askUser(
  canUseTool: NonNullable<CheckedOptions["canUseTool"]>,
  { id, name, input, signal }: PendingCall,
): Promise<HookDecision> {
  const answer = await canUseTool({ id, name, input, signal });
  if (typeof answer === "boolean") return { continue: answer };
  // No decision means deny.
  if (isPlainObject(answer)) return answer;
  throw new InvalidTypeError({
    field: "canUseTool()",
    expected: "true, false or { continue, modifiedInput, reason }",
    received: answer,
  });
}
