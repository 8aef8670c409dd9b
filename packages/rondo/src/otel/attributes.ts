// What is known about a run, an answer and a turn, as attributes of their spans.

import type { Attributes } from "@opentelemetry/api";
import type { ModelRequest, ModelSettings, Usage } from "../model/provider.ts";
import type { TraceEvent } from "../trace/trace.ts";
import { cut, inputMessages, outputMessage, toolDefinitions, toText } from "./content.ts";
import { genAi, openInference, operations, own } from "./names.ts";

/** What spans say. */
export interface SpanStyle {
  readonly content: boolean;
  readonly openInference: boolean;
  readonly providerName: string;
}

/** What is known about a run beforehand. */
export interface RunFacts {
  readonly model?: string | undefined;
  /** The conversation that it belongs to. */
  readonly conversationId?: string | undefined;
  /** The response that it makes. */
  readonly responseId?: string | undefined;
  /** The response that it continues. */
  readonly previousResponseId?: string | undefined;
  /** How many times it was begun, with this one. */
  readonly attempt?: number | undefined;
}

type Kind = keyof typeof operations;
type EventOf<Type extends TraceEvent["type"]> = Extract<TraceEvent, { type: Type }>;

/** Names come from models and users: the longest that a span shows. */
const maxName = 200;
const json = "application/json";

export function shorten(name: string): string {
  return name.length <= maxName ? name : `${name.slice(0, maxName)}…`;
}

export function ofRun(name: string | undefined, facts: RunFacts, style: SpanStyle): Attributes {
  const { model, conversationId, responseId, previousResponseId, attempt } = facts;
  return {
    ...ofKind("agent", style),
    [genAi.provider]: style.providerName,
    [genAi.agentName]: name,
    [genAi.requestModel]: model,
    [genAi.conversationId]: conversationId,
    [genAi.responseId]: responseId,
    [genAi.previousResponse]: previousResponseId,
    [own.attempt]: attempt,
    ...(style.openInference && {
      [openInference.agentName]: name,
      [openInference.sessionId]: conversationId,
    }),
  };
}

export function ofQuestion(event: EventOf<"model.asked">, style: SpanStyle): Attributes {
  const { model, endpoint, contextWindow } = event;
  const request = event.request?.();
  return {
    ...ofKind("chat", style),
    [genAi.provider]: style.providerName,
    [genAi.requestModel]: shorten(model),
    [own.contextWindow]: contextWindow,
    ...ofEndpoint(endpoint),
    ...(request && ofRequest(request, style)),
    ...(style.openInference && {
      [openInference.model]: shorten(model),
      [openInference.system]: style.providerName,
    }),
  };
}

export function ofAnswer(event: EventOf<"model.finished">, style: SpanStyle): Attributes {
  const { finishReason, usage } = event;
  const attributes: Attributes = { [genAi.finishReasons]: [finishReason], ...ofUsage(usage, style) };
  const message = style.content ? event.message?.() : undefined;
  if (!message) return attributes;
  attributes[genAi.outputMessages] = JSON.stringify([outputMessage(message, finishReason)]);
  if (style.openInference)
    Object.assign(
      attributes,
      flatMessages(openInference.outputMessages, [outputMessage(message, finishReason)]),
      {
        [openInference.output]: cut(message.content ?? ""),
      },
    );
  return attributes;
}

export function ofTurn(event: EventOf<"turn.started">, style: SpanStyle): Attributes {
  const { name, callId, attempt } = event;
  const id = callId === undefined ? undefined : shorten(callId);
  const input = style.content ? toText(event.input()) : undefined;
  return {
    ...ofKind("tool", style),
    [genAi.toolName]: shorten(name),
    [genAi.toolType]: "function",
    [genAi.toolCallId]: id,
    [genAi.toolArguments]: input,
    ...(attempt > 1 && { [own.attempt]: attempt }),
    ...(style.openInference && {
      [openInference.toolName]: shorten(name),
      [openInference.toolId]: id,
      ...(input !== undefined && { [openInference.input]: input, [openInference.inputType]: json }),
    }),
  };
}

export function ofResult(event: EventOf<"turn.finished">, style: SpanStyle): Attributes {
  const output = style.content && event.output ? toText(event.output()) : undefined;
  return {
    [own.stopReason]: event.stopReason,
    [genAi.toolResult]: output,
    ...(style.openInference && output !== undefined && { [openInference.output]: output }),
  };
}

export function ofCheck(event: EventOf<"call.checked">, style: SpanStyle): Attributes {
  const { name, callId, decision, reason, error, doubts } = event;
  return {
    [genAi.toolName]: shorten(name),
    [genAi.toolCallId]: shorten(callId),
    [own.decision]: decision,
    [own.reason]: reason,
    [own.doubts]: doubts && [...doubts],
    ...(style.content && error !== undefined && { [own.message]: cut(error) }),
  };
}

export function ofWarning(
  event: EventOf<"warning" | "prompt.changed" | "prompt.cut">,
  style: SpanStyle,
): Attributes {
  return {
    [own.code]: event.type === "warning" ? event.code : event.type.replace(".", "_"),
    ...(style.content && { [own.message]: cut(event.message) }),
  };
}

export function ofUsage(usage: Usage | undefined, style: SpanStyle): Attributes {
  if (!usage) return {};
  const { inputTokens, outputTokens, totalTokens, cachedTokens, reasoningTokens } = usage;
  return {
    [genAi.inputTokens]: inputTokens,
    [genAi.outputTokens]: outputTokens,
    [genAi.cachedTokens]: cachedTokens,
    [genAi.reasoningTokens]: reasoningTokens,
    ...(style.openInference && {
      [openInference.promptTokens]: inputTokens,
      [openInference.completionTokens]: outputTokens,
      [openInference.totalTokens]: totalTokens,
      [openInference.cachedTokens]: cachedTokens,
      [openInference.reasoningTokens]: reasoningTokens,
    }),
  };
}

/** Without the attributes that are not known, which an SDK would complain about. */
export function defined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

function ofKind(kind: Kind, style: SpanStyle): Attributes {
  return {
    [genAi.operation]: operations[kind],
    ...(style.openInference && { [openInference.kind]: openInference.kinds[kind] }),
  };
}

function ofRequest(
  {
    messages,
    tools = [],
    settings,
    output,
  }: Pick<ModelRequest, "messages" | "tools" | "settings" | "output">,
  style: SpanStyle,
): Attributes {
  const attributes = { ...ofSettings(settings, style), ...(output && { [genAi.outputType]: "json" }) };
  if (!style.content) return attributes;
  const shown = inputMessages(messages);
  return {
    ...attributes,
    [genAi.inputMessages]: JSON.stringify(shown),
    ...(tools.length > 0 && { [genAi.toolDefinitions]: JSON.stringify(toolDefinitions(tools)) }),
    ...(style.openInference && flatMessages(openInference.inputMessages, shown)),
  };
}

function ofSettings(settings: ModelSettings | undefined, style: SpanStyle): Attributes {
  if (!settings) return {};
  const { temperature, maxTokens, topP, seed, stop } = settings;
  return {
    [genAi.temperature]: temperature,
    [genAi.maxTokens]: maxTokens,
    [genAi.topP]: topP,
    [genAi.seed]: seed,
    // These are words of the conversation.
    ...(style.content && { [genAi.stop]: stop }),
    ...(style.openInference && {
      [openInference.parameters]: JSON.stringify({ temperature, max_tokens: maxTokens, top_p: topP, seed }),
    }),
  };
}

function ofEndpoint(endpoint: string): Attributes {
  if (!URL.canParse(endpoint)) return {};
  const { hostname, port, protocol } = new URL(endpoint);
  if (hostname === "") return {};
  return {
    [genAi.serverAddress]: hostname,
    [genAi.serverPort]: Number(port) || (protocol === "https:" ? 443 : 80),
  };
}

/** OpenInference has a list as one attribute for each field of each entry. */
function flatMessages(prefix: string, messages: ReturnType<typeof inputMessages>): Attributes {
  const flat: Attributes = {};
  for (const [index, { role, parts }] of messages.entries()) {
    const at = `${prefix}.${index}.`;
    flat[at + openInference.role] = role;
    let calls = 0;
    for (const part of parts)
      if (part.type === "text") flat[at + openInference.content] = part["content"];
      else if (part.type === "tool_call_response") {
        flat[at + openInference.content] = part["response"];
        flat[at + openInference.answers] = part["id"];
      } else if (part.type === "tool_call") {
        const call = `${at}${openInference.calls}.${calls++}.`;
        flat[call + openInference.callId] = part["id"];
        flat[call + openInference.callName] = part["name"];
        flat[call + openInference.callArguments] = toText(part["arguments"]);
      }
  }
  return flat;
}
