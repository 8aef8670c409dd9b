// Programs to try with this server, with its own address and one of its models.

export interface SnippetOptions {
  /** The server's address, without a slash at the end. */
  readonly address: string;
  readonly model: string;
  /** Whether the server wants a key. The programs read it from the environment: it is never shown. */
  readonly hasAuth: boolean;
}

export interface Snippet {
  readonly id: string;
  readonly title: string;
  /** Where to put it. */
  readonly hint: string;
  readonly code: string;
}

const question = "What is 25 + 17?";

export function snippets(options: SnippetOptions): readonly Snippet[] {
  return [curl(options), openai(options), aiSdk(options), codex(options), library(options)];
}

function curl({ address, model, hasAuth }: SnippetOptions): Snippet {
  const key = hasAuth ? ` \\\n  -H "authorization: Bearer $RONDO_API_KEY"` : "";
  const body = JSON.stringify({ model, input: question });
  return {
    id: "curl",
    title: "curl",
    hint: "In any terminal.",
    code: `curl ${address}/v1/responses \\\n  -H "content-type: application/json"${key} \\\n  -d '${body.replaceAll("'", "'\\''")}'`,
  };
}

function openai({ address, model, hasAuth }: SnippetOptions): Snippet {
  return {
    id: "openai",
    title: "openai",
    hint: "npm install openai",
    code: `import OpenAI from "openai";

const openai = new OpenAI({
  baseURL: ${JSON.stringify(`${address}/v1`)},
  apiKey: ${keyIn(hasAuth)},
});
const response = await openai.responses.create({
  model: ${JSON.stringify(model)},
  input: ${JSON.stringify(question)},
});
console.log(response.output_text);`,
  };
}

function aiSdk({ address, model, hasAuth }: SnippetOptions): Snippet {
  return {
    id: "ai-sdk",
    title: "AI SDK",
    hint: "npm install ai @ai-sdk/openai",
    code: `import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";

const rondo = createOpenAI({
  baseURL: ${JSON.stringify(`${address}/v1`)},
  apiKey: ${keyIn(hasAuth)},
});
const { text } = await generateText({
  model: rondo.responses(${JSON.stringify(model)}),
  prompt: ${JSON.stringify(question)},
});
console.log(text);`,
  };
}

function codex({ address, model, hasAuth }: SnippetOptions): Snippet {
  return {
    id: "codex",
    title: "Codex",
    hint: 'In ~/.codex/config.toml; then: codex exec "Say hello."',
    code: `model = ${JSON.stringify(model)}
model_provider = "rondo"
web_search = "disabled"

[model_providers.rondo]
name = "Rondo"
base_url = ${JSON.stringify(`${address}/v1`)}
wire_api = "responses"
supports_websockets = true
stream_idle_timeout_ms = 600000${hasAuth ? '\nenv_key = "RONDO_API_KEY"' : ""}`,
  };
}

function library({ address, model, hasAuth }: SnippetOptions): Snippet {
  return {
    id: "rondo",
    title: "rondo",
    hint: "The library of this project: agents and tools in your own program.",
    code: `import { query, tool } from "rondo";

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);

const options = {
  baseURL: ${JSON.stringify(`${address}/v1`)},${hasAuth ? "\n  apiKey: process.env.RONDO_API_KEY," : ""}
  model: ${JSON.stringify(model)},
  tools: [add],
  autoExecuteTools: true,
};
const { text } = await query({ prompt: ${JSON.stringify(question)}, options }).result();
console.log(text);`,
  };
}

function keyIn(hasAuth: boolean): string {
  return hasAuth ? "process.env.RONDO_API_KEY" : '"none"';
}
