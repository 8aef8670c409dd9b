// The answer to a request: a thought, and then calls or text. The same request always has the same answer.

import { isPlainObject } from "../error/check.ts";
import type { ModelRequest } from "../model/provider.ts";
import type { OpenAITool } from "../tool/tool.ts";
import { failureIn, numberIn, readConversation } from "./conversation.ts";
import { fillSchema } from "./fill-schema.ts";
import { excerpt, failureSentence, followChain, type Outcome, resultSentence } from "./outcomes.ts";
import { callsNeeded, materialOf, readTasks } from "./tasks.ts";
import { type PlannedCall, plannedCall } from "./tool-input.ts";
import { namedTool } from "./tool-names.ts";
import { Workbench } from "./workbench.ts";

export interface Answer {
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

const introduction =
  "I am the demo model, a stand-in without a language model. I can calculate, repeat, search, and call the tools that you offer me.";

export function answerTo(request: ModelRequest): Answer {
  const conversation = readConversation(request.messages);
  const { prompt, rounds, lastAnswer, texts, nextCall } = conversation;
  const tools = callable(request);
  const earlier = numberIn(lastAnswer);
  const plan = readTasks(prompt, tools, earlier !== undefined);

  const isDemanded = typeof request.toolChoice === "object" || request.toolChoice === "required";
  // Calls that are answered otherwise than they were made must not be made for ever.
  const mayCall = isDemanded || rounds < callsNeeded(plan);
  const bench = new Workbench(tools, conversation, [...texts, ...plan.rest]);
  const chains = plan.chains.map((chain) => followChain(chain, bench, earlier));
  const outcomes = chains.flat();
  if (isDemanded && bench.calls.length === 0) bench.calls.push(...demandedCall(tools, prompt));
  if (bench.calls.length > 0 && mayCall) {
    const isOneAtATime = request.settings?.extraBody?.["parallel_tool_calls"] === false;
    return calling(isOneAtATime ? bench.calls.slice(0, 1) : bench.calls, nextCall);
  }

  const sentences = outcomes.map((outcome) =>
    outcome.state === "waiting" ? "A tool has not given the result that I asked for." : outcome.sentence,
  );
  for (const { name, result } of bench.leftOver()) {
    const failure = failureIn(result);
    sentences.push(failure === undefined ? resultSentence(name, result) : failureSentence(name, failure));
  }
  const said = prompt.trim() === "" ? "You said nothing." : `You said: ${excerpt(prompt)}`;
  const text = sentences.length > 0 ? sentences.join(" ") : `${introduction} ${said}`;
  return { thought: thoughtOf(outcomes, rounds), text: shaped(request, text, { prompt, chains }), calls: [] };
}

/** The tools that this answer may call. */
function callable({ tools = [], toolChoice = "auto" }: ModelRequest): readonly OpenAITool[] {
  if (toolChoice === "none") return [];
  return typeof toolChoice === "string"
    ? tools
    : tools.filter((tool) => tool.function.name === toolChoice.name);
}

function demandedCall(tools: readonly OpenAITool[], prompt: string): PlannedCall[] {
  const text = prompt.slice(0, 4_000);
  const tool = namedTool(tools, text) ?? tools[0];
  // A tool with a schema that nothing fits is called all the same, as was demanded.
  return tool ? [plannedCall(tool, materialOf(text)) ?? { tool, input: {} }] : [];
}

function calling(calls: readonly PlannedCall[], first: number): Answer {
  const names = [...new Set(calls.map(({ tool }) => tool.function.name))];
  return {
    thought: `A tool can do this: I call ${names.join(" and ")}.`,
    text: "",
    calls: calls.map(({ tool, input }, index) => ({
      id: `call_${first + index}`,
      name: tool.function.name,
      arguments: JSON.stringify(input),
    })),
  };
}

function thoughtOf(outcomes: readonly Outcome[], rounds: number): string {
  if (rounds > 0) return "The tools have answered, so I say what they found.";
  return outcomes.length > 0 ? "I can do this without a tool." : "This is nothing that I have a rule for.";
}

/** The text in the shape that the request asks for. */
function shaped(
  { output, settings }: ModelRequest,
  text: string,
  { prompt, chains }: { prompt: string; chains: readonly (readonly Outcome[])[] },
): string {
  if (output) {
    // The last result is what a chain was for. Without any, the prompt has what there is.
    const last = chains.flatMap((chain) => chain.findLast(({ state }) => state === "done") ?? []);
    const numbers = last.flatMap((outcome) =>
      "value" in outcome ? (numberIn(String(outcome.value)) ?? []) : [],
    );
    const material = { texts: [text], numbers, said: `${excerpt(prompt)} ${text}` };
    const value = fillSchema(output.schema, chains.length > 0 ? material : materialOf(excerpt(prompt)));
    return JSON.stringify(value ?? {});
  }
  const format = settings?.extraBody?.["response_format"];
  if (isPlainObject(format) && format["type"] === "json_object") return JSON.stringify({ answer: text });
  return text;
}
