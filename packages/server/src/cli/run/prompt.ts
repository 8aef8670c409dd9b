// A prompt in a file: its text, its model and its tools.

import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { AnyTool, ModelProvider } from "rondo";
import { toolsIn, toolsOfFile } from "../chat/tool-source.ts";
import { UsageError } from "../cli-io.ts";

export interface Prompt {
  readonly prompt: string;
  /** The system prompt. */
  readonly system?: string | undefined;
  /** A model or its name. */
  readonly model?: ModelProvider | string | undefined;
  readonly tools: readonly AnyTool[];
}

const placeholder = /\{\{\s*input\s*\}\}/g;

/** The prompt of a text file, with or without YAML front matter. Throws a `UsageError`. */
export async function readPromptFile(path: string, name: string): Promise<Prompt> {
  const text = (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
  const [whole, front] = /^---[ \t]*\r?\n([\s\S]*?)(?:^|\n)---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  if (whole === undefined) return toPrompt({ prompt: text.trim() }, path, name);
  const { readYaml } = await import("../../config/yaml-file.ts");
  // One line further down, so that line numbers in messages match the file.
  const { values } = readYaml(`\n${front ?? ""}`, name);
  if (typeof values !== "object" || values === null || Array.isArray(values))
    throw new UsageError(`The front matter of ${name} has to be \`key: value\` lines: ${keysInWords}.`);
  if ("prompt" in values)
    throw new UsageError(
      `The prompt of ${name} is the text below its front matter: \`prompt\` has no place in it.`,
    );
  return toPrompt({ ...values, prompt: text.slice(whole.length).trim() }, path, name);
}

const keys = ["prompt", "system", "model", "tools"] as const;
const keysInWords = "model, system or tools";

/** Whether a value may be a prompt. */
export function isPrompt(value: unknown): value is string | { prompt: unknown } {
  return typeof value === "string" || (typeof value === "object" && value !== null && "prompt" in value);
}

/** Checks a prompt and loads its tools, whose files are relative to it. Throws a `UsageError`. */
export async function toPrompt(
  given: string | { prompt: unknown },
  path: string,
  name: string,
): Promise<Prompt> {
  const value: Readonly<Record<string, unknown>> =
    typeof given === "string" ? { prompt: given } : { ...given };
  const unknown = Object.keys(value).find((key) => !(keys as readonly string[]).includes(key));
  if (unknown !== undefined)
    throw new UsageError(
      `${name} has '${unknown}', which a prompt does not know. It may have ${keysInWords}.`,
    );
  const { prompt, system, model, tools } = value;
  if (typeof prompt !== "string" || prompt.trim() === "")
    throw new UsageError(`The prompt of ${name} has to be text, and not empty.`);
  if (system !== undefined && typeof system !== "string")
    throw new UsageError(`In ${name}, 'system' has to be text.`);
  if (model !== undefined && typeof model !== "string" && !isModel(model))
    throw new UsageError(
      `In ${name}, 'model' has to be the name of a model, or a model such as ollama("qwen3:8b").`,
    );
  return { prompt, system, model, tools: await readTools(tools, path, name) };
}

/** The prompt with the input in place of `{{input}}`, or below. Throws if the placeholder has no input. */
export function fillIn(prompt: string, input: string | undefined): string {
  if (input !== undefined)
    return prompt.search(placeholder) >= 0
      ? prompt.replace(placeholder, () => input)
      : `${prompt}\n\n${input}`;
  if (prompt.search(placeholder) >= 0)
    throw new UsageError(
      "The prompt has a place for an input, {{input}}. Pass one with --input or --input-file.",
    );
  return prompt;
}

async function readTools(tools: unknown, path: string, name: string): Promise<readonly AnyTool[]> {
  if (tools === undefined || tools === null) return [];
  const list: unknown[] = Array.isArray(tools) ? tools : [tools];
  const read = await Promise.all(
    list.map(async (it) => {
      if (typeof it === "string") return (await toolsOfFile(it, dirname(resolve(path)))).tools;
      return toolsIn({ tools: it }, name);
    }),
  );
  return read.flat();
}

export function isModel(value: unknown): value is ModelProvider {
  return typeof (Object(value) as Partial<ModelProvider>).stream === "function";
}
