// A request in the words of the Responses API.

import { InvalidArgumentError } from "../../error/argument-errors.ts";
import { objectIn } from "../../json/object-in.ts";
import { checkSettings } from "../check-settings.ts";
import type { AssistantMessage, ContentPart, Message } from "../message.ts";
import type { ModelRequest } from "../provider.ts";
import { checkToolChoice } from "../request-body.ts";
import { checkMessages } from "../wire-messages.ts";

/** A field of a request, or an item of its input. */
export type WireFields = Readonly<Record<string, unknown>>;

export interface CheckedRequest {
  /** The conversation after the system messages that it begins with. */
  readonly messages: readonly Message[];
  /** All other fields. */
  readonly fields: WireFields;
}

/** Checks a request, and words all of it but its input. */
export function checkRequest(request: ModelRequest): CheckedRequest {
  const { messages, tools = [], toolChoice, output, settings = {} } = request;
  checkMessages(messages);
  checkSettings("settings", settings);
  checkToolChoice(tools, toolChoice);
  for (const field of ["seed", "stop"] as const)
    if (settings[field] !== undefined)
      throw new InvalidArgumentError({
        field: `settings.${field}`,
        expected: "no value: the Responses API has no such setting",
        received: settings[field],
        hint: "Leave it out, or use openaiCompatible() for a server that has it.",
      });
  const start = messages.findIndex(({ role }) => role !== "system");
  const system = messages.slice(0, Math.max(0, start)).flatMap((it) => (it.role === "system" ? [it] : []));
  return {
    messages: messages.slice(system.length),
    fields: {
      // A server does not keep them from one response to the next.
      instructions: system.map(({ content }) => content).join("\n\n") || undefined,
      temperature: settings.temperature,
      top_p: settings.topP,
      max_output_tokens: settings.maxTokens,
      tools:
        tools.length > 0
          ? tools.map((tool) => ({ type: "function", ...tool.function, strict: false }))
          : undefined,
      tool_choice:
        tools.length === 0
          ? undefined
          : typeof toolChoice === "object"
            ? { type: "function", name: toolChoice.name }
            : toolChoice,
      text: output && {
        format:
          output.schema === undefined
            ? { type: "json_object" }
            : { type: "json_schema", name: output.name, schema: output.schema, strict: true },
      },
      ...settings.extraBody,
    },
  };
}

/** Messages as items. Thoughts are sent back where `sendsReasoning`. */
export function toItems(messages: readonly Message[], sendsReasoning: boolean): WireFields[] {
  return messages.flatMap((message): WireFields[] => {
    switch (message.role) {
      case "assistant":
        return assistantItems(message, sendsReasoning);
      case "tool":
        return [{ type: "function_call_output", call_id: message.tool_call_id, output: message.content }];
      default: {
        const { role, content } = message;
        const parts = typeof content === "string" ? content : content.map(toPart);
        return content === "" ? [] : [{ type: "message", role, content: parts }];
      }
    }
  });
}

function assistantItems(
  { content, tool_calls: calls = [], reasoning = "" }: AssistantMessage,
  sendsReasoning: boolean,
): WireFields[] {
  const items: WireFields[] = [];
  if (sendsReasoning && reasoning !== "")
    items.push({ type: "reasoning", summary: [{ type: "summary_text", text: reasoning }] });
  if (content) items.push({ type: "message", role: "assistant", content });
  // What a server cannot read it may refuse, and would refuse in every later request.
  for (const {
    id,
    function: { name, arguments: text },
  } of calls)
    items.push({ type: "function_call", call_id: id, name, arguments: objectIn(text) ? text : "{}" });
  return items;
}

function toPart(part: ContentPart): WireFields {
  if (part.type === "text") return { type: "input_text", text: part.text };
  const { url, detail = "auto" } = part.image_url;
  return { type: "input_image", image_url: url, detail };
}
