// What a model's own chat template tells: how it writes calls. Servers that have the template give it away.

import type { ToolDialect } from "rondo/models";

const maxTemplateBytes = 4_000_000;

/** Text in a template, and the dialect that it belongs to. */
const marks: readonly (readonly [mark: string, dialect: ToolDialect])[] = [
  ["<arg_key>", "glm"],
  ["<function=", "qwen-coder"],
  ["<tool_call>", "hermes"],
  ["[TOOL_CALLS]", "mistral"],
  ["<|python_tag|>", "llama"],
  ["<|tool_call_start|>", "pythonic"],
  ["<|tool_call>", "gemma"],
  ["<start_function_call>", "gemma"],
  ["<｜tool▁calls▁begin｜>", "deepseek"],
  ["DSML", "dsml"],
  ["<|tool_calls_section_begin|>", "kimi"],
  ["<|channel|>", "harmony"],
  ["<|tool_call|>", "granite"],
  ["<TOOLCALL>", "granite"],
  ["<|START_ACTION|>", "cohere"],
  ["<|tools_prefix|>", "apertus"],
  ["<|function_call|>", "gigachat"],
  ["<invoke name=", "minimax"],
  ["<steptml:", "step3"],
  ["<|tool_call:begin|>", "solar"],
];

/** The dialects whose marks a template has. */
export function dialectsIn(template: string): ToolDialect[] {
  return [...new Set(marks.filter(([mark]) => template.includes(mark)).map(([, dialect]) => dialect))];
}

export interface TemplateSource {
  /** The base URL of the API. */
  readonly url: string;
  readonly server: string | undefined;
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The chat template, from `/props` of llama.cpp or `/api/show` of Ollama; undefined where a server has none to give. */
export async function readTemplate(source: TemplateSource): Promise<string | undefined> {
  const { url, server, model, headers, signal } = source;
  const root = url.replace(/\/+$/, "").replace(/\/v1$/, "");
  try {
    const reply =
      server === "ollama"
        ? await fetch(`${root}/api/show`, {
            method: "POST",
            body: JSON.stringify({ model }),
            headers,
            signal,
          })
        : await fetch(`${root}/props`, { headers, signal });
    const field = server === "ollama" ? "template" : "chat_template";
    const template = (JSON.parse(await boundedText(reply)) as Record<string, unknown>)[field];
    return typeof template === "string" && template !== "" ? template : undefined;
  } catch {
    return undefined;
  }
}

async function boundedText(reply: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of reply.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    if (text.length > maxTemplateBytes) throw new Error("The reply is too long.");
  }
  return text;
}
