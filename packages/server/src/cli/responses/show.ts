// `rondo responses show`: one response with its input and output.

import type { OutputItem } from "../../protocol/items.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import type { ApiClient } from "../api-client.ts";
import type { CliIo } from "../cli-io.ts";
import { createStyle, hasColours, type Style } from "../terminal/style.ts";
import { withoutControls } from "../terminal/text.ts";
import { paintStatus } from "./list.ts";
import { textOfInput, timeOf } from "./words.ts";

export async function showResponse(
  io: CliIo,
  api: ApiClient,
  id: string,
  { json }: { json?: true },
  signal: AbortSignal,
): Promise<void> {
  const response = await api.get(id, signal);
  if (json) {
    io.write(`${JSON.stringify(response, undefined, 2)}\n`);
    return;
  }
  const asked = await api.input(id, signal);
  const isTerminal = io.output.isTTY === true;
  const style = createStyle(hasColours(isTerminal, io.env));
  const clean = isTerminal ? withoutControls : (text: string) => text;
  const fields = fieldsOf(response, isTerminal);
  const width = Math.max(...fields.map(([name]) => name.length));
  const lines = fields.map(([name, value]) => {
    if (!isTerminal) return `${name}\t${value.replace(/\s+/g, " ")}`;
    return `${style.dim(name.padEnd(width))}  ${name === "status" ? paintStatus(style, value) : clean(value)}`;
  });
  for (const item of asked.data) {
    const who = typeof item["role"] === "string" ? item["role"] : item.type;
    lines.push("", style.bold(clean(`${who}:`)), clean(textOfInput(item)));
  }
  if (asked.has_more) lines.push("", style.dim(`(and more; only the first ${asked.data.length} are shown)`));
  for (const item of response.output) lines.push("", ...linesOf(item, style, clean));
  io.write(`${lines.join("\n")}\n`);
}

function fieldsOf(response: ResponseObject, isForPeople: boolean): [name: string, value: string][] {
  const { id, status, model, created_at, completed_at, background, usage, error } = response;
  const { previous_response_id: previous, incomplete_details: incomplete, conversation } = response;
  const fields: [string, string | undefined][] = [
    ["id", id],
    ["status", status],
    ["model", model],
    ["created", timeOf(created_at, isForPeople)],
    ["completed", completed_at === null ? undefined : timeOf(completed_at, isForPeople)],
    ["background", background ? "yes" : undefined],
    ["goes on from", previous ?? undefined],
    ["conversation", conversation?.id],
    ["tokens", usage ? `${usage.input_tokens} in, ${usage.output_tokens} out` : undefined],
    ["incomplete", incomplete?.reason],
    ["error", error ? `${error.message} (${error.code})` : undefined],
  ];
  return fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

function linesOf(item: OutputItem, style: Style, clean: (text: string) => string): string[] {
  switch (item.type) {
    case "message":
      return [style.bold(`${item.role}:`), clean(item.content.map(({ text }) => text).join("\n"))];
    case "reasoning": {
      const { summary, content = [] } = item;
      const thought = (content.length > 0 ? content : summary).map(({ text }) => text).join("\n");
      return [style.bold("thinking:"), style.dim(clean(thought))];
    }
    case "function_call":
      return [style.cyan(clean(`→ ${item.name} ${item.arguments}`))];
    case "custom_tool_call":
      return [style.cyan(clean(`→ ${item.name} ${item.input}`))];
    case "mcp_call": {
      const call = style.cyan(clean(`→ ${item.name} ${item.arguments}`));
      if (item.error)
        return [
          call,
          style.red(clean(`✗ ${item.name} ${item.error.content.map(({ text }) => text).join("\n")}`)),
        ];
      return item.output === null ? [call] : [call, clean(`← ${item.name} ${item.output}`)];
    }
    default:
      return [clean(JSON.stringify(item))];
  }
}
