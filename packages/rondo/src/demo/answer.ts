// The answer to a request: a thought, then calls or text. The same request always gets the same answer.

import { isPlainObject } from "../error/check.ts";
import { ModelRateLimitError, ModelServerError } from "../error/model-http-errors.ts";
import type { ModelRequest } from "../model/provider.ts";
import type { OpenAITool } from "../tool/tool.ts";
import { namedTool, type PlannedCall, planCall } from "./choose-tool.ts";
import { numberIn, readConversation } from "./conversation.ts";
import { fillSchema } from "./fill-schema.ts";
import { materialOf } from "./prompt.ts";
import { excerpt, Steps } from "./steps.ts";

export interface DemoAnswer {
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

export const demoEndpoint = "demo://model";
const introduction =
  "I am the demo model, a stand-in without a language model. I can calculate, repeat, and call the tools that you offer me.";

export function answerTo(request: ModelRequest): DemoAnswer {
  const conversation = readConversation(request.messages);
  const { prompt, rounds, nextCall } = conversation;
  const { toolChoice = "auto", settings } = request;
  failOnDemand(prompt);
  const tools = offeredTools(request);
  const steps = new Steps(conversation, tools);
  const isDemanded = typeof toolChoice === "object" || toolChoice === "required";
  if (isDemanded && steps.calls.length === 0) steps.calls.push(...demandedCall(tools, prompt));
  // If other calls were answered than were made, they must not be repeated for ever.
  if (steps.calls.length > 0 && (isDemanded || rounds < steps.callsNeeded)) {
    const isOneAtATime = settings?.extraBody?.["parallel_tool_calls"] === false;
    const calls = isOneAtATime ? steps.calls.slice(0, 1) : steps.calls;
    return {
      thought: `A tool can do this: I call ${[...new Set(calls.map(({ name }) => name))].join(" and ")}.`,
      text: "",
      calls: calls.map(({ name, input }, index) => ({
        id: `call_${nextCall + index}`,
        name,
        arguments: JSON.stringify(input),
      })),
    };
  }
  const said = prompt.trim() === "" ? "You said nothing." : `You said: ${excerpt(prompt)}`;
  const hasResult = steps.sentences.length > 0;
  const text = hasResult ? steps.sentences.join(" ") : `${introduction} ${said}`;
  const thought = hasResult ? "I can do this without a tool." : "I have no rule for this.";
  return {
    thought: rounds > 0 ? "The tools have answered, so I say what they found." : thought,
    text: inFormat(request, text, prompt, steps),
    calls: [],
  };
}

/** "Fail" and "Fail with 429" are for trying out how errors are handled. */
function failOnDemand(prompt: string): void {
  const found = /^fail(?: with (\d{3}))?[.!]?$/i.exec(prompt.trim());
  if (!found) return;
  const failure = { endpoint: demoEndpoint, status: Number(found[1] ?? 500), said: "as the prompt asked" };
  throw failure.status === 429 ? new ModelRateLimitError(failure, undefined) : new ModelServerError(failure);
}

function offeredTools({ tools = [], toolChoice }: ModelRequest): readonly OpenAITool[] {
  if (toolChoice === "none") return [];
  return typeof toolChoice === "object"
    ? tools.filter((tool) => tool.function.name === toolChoice.name)
    : tools;
}

function demandedCall(tools: readonly OpenAITool[], prompt: string): PlannedCall[] {
  const material = materialOf(prompt);
  const tool = namedTool(tools, material.said) ?? tools[0];
  return tool ? [planCall(tool, material) ?? { name: tool.function.name, input: {} }] : [];
}

/** The text in the format that the request asks for. */
function inFormat(
  { output, settings }: ModelRequest,
  text: string,
  prompt: string,
  { sentences, values }: Steps,
): string {
  if (output?.schema) {
    const numbers = values.flatMap((value) => numberIn(String(value)) ?? []);
    const material =
      sentences.length > 0
        ? { texts: [text], numbers, said: `${excerpt(prompt)} ${text}` }
        : materialOf(excerpt(prompt));
    return JSON.stringify(fillSchema(output.schema, material) ?? {});
  }
  const format = settings?.extraBody?.["response_format"];
  const isObject = output !== undefined || (isPlainObject(format) && format["type"] === "json_object");
  return isObject ? JSON.stringify({ answer: text }) : text;
}
