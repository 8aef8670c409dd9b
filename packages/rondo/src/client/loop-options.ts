// What a client asks of the loop.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { isPlainObject } from "../error/check.ts";
import type { CallDecision, LoopOptions, PendingCall } from "../loop/options.ts";
import type { ToolCall } from "../model/message.ts";
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
  const { graceMs, signal, canUseTool } = options;
  const answerTool = output?.answerTool;
  const format = output?.format;
  return {
    model,
    settings,
    parallelToolCalls,
    maxToolIterations,
    tellsCallPieces: options.includeToolUseDeltas,
    tools: answerTool ? [...tools.all, answerTool] : tools.all,
    isAllowed: (tool) => tool === answerTool || options.isAllowed(tool),
    runsHere: (tool) => options.autoExecuteTools && tool !== answerTool,
    onMessage: (message, clientCalls) => {
      const ids = new Set(clientCalls);
      const isYours = (call: ToolCall) => ids.has(call.id) && call.function.name !== answerTool?.wireName;
      conversation.add(message, isYours);
    },
    ...(format && { output: format }),
    ...(maxRepeats !== undefined && { maxRepeats }),
    ...(options.repairArguments !== undefined && { repairArguments: options.repairArguments }),
    ...(graceMs !== undefined && { graceMs }),
    ...(signal && { signal }),
    // The answer itself is no call that needs permission.
    ...(canUseTool && {
      canUseTool: async (call: PendingCall) =>
        call.tool === answerTool ? undefined : askUser(canUseTool, call),
    }),
    ...(options.hooks.pre_tool_use && {
      beforeCall: async (call: PendingCall) =>
        call.tool === answerTool ? undefined : hooks.beforeCall(call),
    }),
  };
}

/** A plain yes or no is a decision too. */
async function askUser(
  canUseTool: NonNullable<CheckedOptions["canUseTool"]>,
  { id, name, input, signal }: PendingCall,
): Promise<CallDecision> {
  const answer = await canUseTool({ id, name, input, signal });
  if (typeof answer === "boolean") return { continue: answer };
  // Nothing at all is no permission.
  if (isPlainObject(answer)) return answer;
  throw new InvalidTypeError({
    field: "canUseTool()",
    expected: "true, false or { continue, modifiedInput, reason }",
    received: answer,
  });
}
