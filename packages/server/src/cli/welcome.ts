// What a newcomer reads: what was found, and three things to try that work as they stand.

import type { Found } from "../config/discover.ts";

const names: Readonly<Record<Found["kind"], string>> = {
  ollama: "Ollama",
  lmstudio: "LM Studio",
  llamacpp: "llama.cpp",
  vllm: "vLLM",
  other: "A model server",
};

/** How the commands of this program are called: `npx rondo` in a clone, `npx @rondo/server` elsewhere. */
export type CommandName = "npx rondo" | "npx @rondo/server";

export interface WelcomeOptions {
  readonly url: string;
  readonly found: readonly Found[];
  readonly command: CommandName;
}

export function welcome({ url, found, command }: WelcomeOptions): string {
  const model = found.find(({ models }) => models.length > 0)?.models[0] ?? "demo";
  return [
    ...found.map(foundLine),
    ...(found.length === 0 ? noModel : []),
    "",
    "Try it, in another terminal in this folder:",
    "",
    `  curl ${url}/v1/responses -H "content-type: application/json" -d '${JSON.stringify({ model, input: "What is 25 + 17?" })}'`,
    "",
    `  node --input-type=module -e '${openaiProgram(url, model)}'`,
    "",
    `  ${command} chat --server ${url}`,
    "",
    "Ctrl-C stops the server.",
    "",
  ].join("\n");
}

const noModel = [
  "No model server answers on this machine (Ollama 11434, LM Studio 1234, llama.cpp 8080, vLLM 8000, RONDO_MODEL_URL).",
  "So this is the demo model: no language model, but a stand-in that calculates, searches, and calls your tools.",
];

function foundLine({ kind, url, models }: Found): string {
  const [first, second, third, ...others] = models;
  if (first === undefined) return `${names[kind]} answers at ${url}, but has no models yet.`;
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  const list = [first, second, third].filter((name) => name !== undefined).join(", ");
  return `${names[kind]} answers at ${url}: ${list}${more}.`;
}

/** Without single quotes, so that a shell takes it as one word. */
function openaiProgram(url: string, model: string): string {
  return [
    `import OpenAI from "openai";`,
    `const openai = new OpenAI({ baseURL: ${JSON.stringify(`${url}/v1`)}, apiKey: "none" });`,
    `const { output_text } = await openai.responses.create({ model: ${JSON.stringify(model)}, input: "What is 25 + 17?" });`,
    "console.log(output_text);",
  ].join(" ");
}
