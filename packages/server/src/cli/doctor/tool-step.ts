// The tool-call round trip: the model is to call `add`, and then to use what it gave.

import { type LoopEvent, type ModelProfile, type ModelProvider, run, tool } from "rondo";
import { quote } from "./ask.ts";
import {
  hasSum,
  looksLikeCall,
  maxTokens,
  toolDescription,
  toolName,
  toolPrompt,
  withoutText,
} from "./questions.ts";
import type { Finding } from "./report.ts";

const add = tool(toolName, toolDescription, { a: Number, b: Number }, ({ a, b }) => a + b);

interface Seen {
  text: string;
  thinking: string;
  /** How the tool was called, as people write it. */
  call: string | undefined;
  rejected: string | undefined;
}

export interface ToolStepOptions {
  readonly signal: AbortSignal;
  /** The same model, with all dialects looked for; undefined if they are already. */
  readonly withAllDialects?: (() => ModelProvider) | undefined;
}

export async function toolStep(
  provider: ModelProvider,
  { signal, withAllDialects }: ToolStepOptions,
): Promise<Finding> {
  const seen = await converse(provider, signal);
  if (seen.call === undefined && withAllDialects !== undefined) {
    const wider = withAllDialects();
    if ((await converse(wider, signal)).call !== undefined) return otherDialect(provider.profile);
  }
  return judge(seen, provider.profile);
}

async function converse(model: ModelProvider, signal: AbortSignal): Promise<Seen> {
  const seen: Seen = { text: "", thinking: "", call: undefined, rejected: undefined };
  const conversation = run([{ role: "user", content: toolPrompt }], {
    model,
    tools: [add],
    settings: { maxTokens },
    maxToolIterations: 3,
    signal,
  });
  for await (const event of conversation) note(event, seen);
  signal.throwIfAborted(); // the loop ends in good order, and would look like a model that did nothing
  return seen;
}

function note(event: LoopEvent, seen: Seen): void {
  switch (event.type) {
    case "model.started":
      seen.text = ""; // what counts is said last
      break;
    case "text.delta":
      seen.text += event.text;
      break;
    case "thinking.delta":
      seen.thinking += event.text;
      break;
    case "tool.finished":
      if (!event.isError) seen.call = `add(${String(event.input["a"])}, ${String(event.input["b"])})`;
      break;
    case "call.rejected":
      seen.rejected = `${event.name} with ${quote(event.raw)}`;
      break;
    default: // nothing to be seen in it
  }
}

function judge({ text, thinking, call, rejected }: Seen, profile: ModelProfile): Finding {
  if (call !== undefined) return judgeUse(call, text, thinking);
  if (rejected !== undefined)
    return {
      status: "failed",
      code: "wrong_call",
      message: `it called ${rejected}, which cannot be run`,
      advice: `The tool is add with the numbers a and b. ${largerModel}`,
    };
  return neverCalled(text, thinking, profile);
}

/** What became of the result. */
export function judgeUse(call: string, text: string, thinking: string): Finding {
  if (hasSum(text)) return { status: "ok", code: "ok", message: `${call}, and the answer has the result` };
  const empty = withoutText({ text: text.trim(), thinking });
  return {
    status: "failed",
    code: "result_not_used",
    message: `${call} was called, but the answer does not have the result: ${empty?.message ?? quote(text)}`,
    advice: `The model's chat template may leave out results of tools. ${largerModel}`,
  };
}

const largerModel = "Try again, and if it stays so, try a larger model or one that is made for tools.";

function neverCalled(text: string, thinking: string, profile: ModelProfile): Finding {
  const { name, toolDialects } = profile;
  const tried =
    `The profile '${name}' was used: calls are read from the API's own field, and from the text in ` +
    `${toolDialects.length === 0 ? "no dialect" : `the dialects ${toolDialects.join(", ")}`}.`;
  if (looksLikeCall(text))
    return {
      status: "failed",
      code: "unread_call",
      message: `it wrote something like a call into its text, which no dialect reads: ${quote(text, 120)}`,
      advice: `${tried} ${serverAdvice(name)} Or set profile.toolDialects in the config, if the dialect is a known one (docs/quirks.md).`,
    };
  const instead = withoutText({ text: text.trim(), thinking })?.message ?? `it answered ${quote(text)}`;
  return {
    status: "failed",
    code: "no_tool_call",
    message: `it never called the tool: ${instead}`,
    advice: `${tried} ${serverAdvice(name)} If the model does write calls in a way of its own, set profile.toolDialects in the config (docs/quirks.md).`,
  };
}

function otherDialect({ name, toolDialects }: ModelProfile): Finding {
  return {
    status: "failed",
    code: "other_dialect",
    message: "it calls the tool, but in a dialect that its profile does not look for",
    advice:
      `The profile '${name}' looks for ${toolDialects.join(", ") || "none"}. ` +
      "Set profile.toolDialects in the config to all dialects of docs/quirks.md, or to the one that the model writes.",
  };
}

/** What makes tools work on each server. The first word of a profile's name is the server. */
function serverAdvice(profileName: string): string {
  switch (profileName.split("/")[0]) {
    case "ollama":
      return "Choose a model that can use tools: `ollama show MODEL` lists 'tools' among its capabilities.";
    case "lmstudio":
      return "Choose a model that LM Studio marks with a hammer: those are trained for tools.";
    case "llamacpp":
      return "Start llama-server with --jinja, and use a model whose chat template has tools.";
    case "vllm":
      return "Start vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model.";
    default:
      return "See whether the server has to be told to read tool calls, or try a model that is made for tools.";
  }
}
