// What a newcomer reads: what was found, where the console is, and three commands to try.

import { chatModels } from "../config/chat-models.ts";
import { type FoundServer, serverNames } from "../config/discover.ts";

/** How to call the command: `npx rondo` in a clone, `npx @rondo/server` elsewhere. */
export type CommandName = "npx rondo" | "npx @rondo/server";

export interface WelcomeOptions {
  readonly url: string;
  /** Whether a browser sees a page there. */
  readonly hasConsole: boolean;
  readonly found: readonly FoundServer[];
  readonly command: CommandName;
  /** The label of `RONDO_MODEL_URL`, if no model answers there. */
  readonly silent?: string | undefined;
}

export function welcome({ url, hasConsole, found, command, silent }: WelcomeOptions): string {
  const lines = found.map(foundLine);
  if (silent !== undefined)
    lines.push(`No model answers at ${silent} (RONDO_MODEL_URL) yet. Start it there, or unset the variable.`);
  const [first] = found.flatMap(({ models }) => chatModels(models));
  // A named server is not replaced by the demo model, so there is nothing to try.
  if (first === undefined && silent !== undefined) return [...lines, "", stopLine, ""].join("\n");
  const model = first ?? "demo";
  return [
    ...lines,
    ...(lines.length === 0 ? [noServer] : []),
    ...(first === undefined ? [demoLine] : []),
    "",
    ...(hasConsole ? [`Open ${url}/ in a browser to chat, and to see what runs do.`, ""] : []),
    "Try it, in another terminal in this folder:",
    "",
    `  curl ${url}/v1/responses -H "content-type: application/json" -d '${JSON.stringify({ model, input: "What is 25 + 17?" })}'`,
    "",
    // A clone has the package; elsewhere it has to be installed first.
    `  ${command === "npx rondo" ? "" : "npm install openai && "}node --input-type=module -e '${openaiProgram(url, model)}'`,
    "",
    `  ${command} chat --server ${url}`,
    "",
    stopLine,
    "",
  ].join("\n");
}

const stopLine = "Ctrl-C stops the server.";

const noServer =
  "No model server answers on this machine (Ollama 11434, LM Studio 1234, llama.cpp 8080, vLLM 8000, RONDO_MODEL_URL).";
const demoLine =
  "So this is the demo model: no language model, but a stand-in that calculates and calls your tools.";

function foundLine({ kind, url, models }: FoundServer): string {
  const it = `${serverNames[kind]} answers at ${url}`;
  if (models.length === 0) return `${it}, but has no models yet.`;
  const chatting = chatModels(models);
  if (chatting.length === 0) return `${it}, but has no model that can chat: ${shortList(models)}.`;
  return `${it}: ${shortList(chatting)}.`;
}

function shortList(names: readonly string[]): string {
  const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return `${names.slice(0, 3).join(", ")}${more}`;
}

/** Without single quotes, so that a shell reads it as one word. */
function openaiProgram(url: string, model: string): string {
  return [
    `import OpenAI from "openai";`,
    `const openai = new OpenAI({ baseURL: ${JSON.stringify(`${url}/v1`)}, apiKey: "none" });`,
    `const { output_text } = await openai.responses.create({ model: ${JSON.stringify(model)}, input: "What is 25 + 17?" });`,
    "console.log(output_text);",
  ].join(" ");
}
