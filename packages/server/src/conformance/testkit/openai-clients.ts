// The `openai` package in its three ways to ask, with the loop that its users write.

import OpenAI from "openai";
import type {
  FunctionTool,
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInputItem,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import { z } from "zod";
import { type ClientTool, maxRounds, type Outcome, type Task, type TestClient } from "./client.ts";
import type { TestServer } from "./start.ts";

export function openaiClient({ baseURL, fetch }: TestServer): OpenAI {
  return new OpenAI({ baseURL, fetch, apiKey: "none", maxRetries: 0 });
}

type Ask = (client: OpenAI, body: ResponseCreateParamsNonStreaming, task: Task) => Promise<Response>;

const create: Ask = (client, body, { signal }) => client.responses.create(body, { signal });

const createStreamed: Ask = async (client, body, task) => {
  const stream = await client.responses.create({ ...body, stream: true }, { signal: task.signal });
  return lastOf(stream, task);
};

const stream: Ask = async (client, body, { signal, onText }) => {
  const running = client.responses.stream({ ...body, stream: true }, { signal });
  if (onText) running.on("response.output_text.delta", ({ delta }) => onText(delta));
  return running.finalResponse();
};

/** The response of the terminal event. */
async function lastOf(
  stream: AsyncIterable<ResponseStreamEvent>,
  { onText, signal }: Task,
): Promise<Response> {
  let last: Response | undefined;
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") onText?.(event.delta);
    if (event.type === "response.failed") throw new Error(event.response.error?.message);
    if (event.type === "response.completed" || event.type === "response.incomplete") last = event.response;
  }
  // An aborted stream just ends.
  signal.throwIfAborted();
  if (!last) throw new Error("The stream ended without a terminal event.");
  return last;
}

/** Keeps the conversation on the server: each request has only what is new. */
async function workChained(server: TestServer, task: Task, ask: Ask): Promise<Outcome> {
  const client = openaiClient(server);
  const finishes: string[] = [];
  let input: string | ResponseInputItem[] = task.prompt;
  let previous: string | null = null;
  for (let round = 0; round < maxRounds; round++) {
    const response = await ask(client, bodyOf(task, input, { previous_response_id: previous }), task);
    finishes.push(finishOf(response));
    const outputs = runCalls(response, task.tools);
    if (outputs.length === 0) return { text: textOf(response), finishes };
    input = outputs;
    previous = response.id;
  }
  throw new Error("The model never came to an end.");
}

/** Keeps the conversation itself: each request has all of it, and the server keeps nothing. */
async function workStateless(server: TestServer, task: Task, ask: Ask): Promise<Outcome> {
  const client = openaiClient(server);
  const finishes: string[] = [];
  const input: ResponseInputItem[] = [{ role: "user", content: task.prompt }];
  const include = ["reasoning.encrypted_content" as const];
  for (let round = 0; round < maxRounds; round++) {
    const response = await ask(client, bodyOf(task, [...input], { store: false, include }), task);
    finishes.push(finishOf(response));
    const outputs = runCalls(response, task.tools);
    if (outputs.length === 0) return { text: textOf(response), finishes };
    input.push(...(response.output as ResponseInputItem[]), ...outputs);
  }
  throw new Error("The model never came to an end.");
}

function bodyOf(
  { model = "test", tools }: Task,
  input: string | ResponseInputItem[],
  more: Partial<ResponseCreateParamsNonStreaming>,
): ResponseCreateParamsNonStreaming {
  return { model, input, tools: tools.map(asFunction), ...more };
}

function asFunction({ name, description, input }: ClientTool): FunctionTool {
  return { type: "function", name, description, parameters: z.toJSONSchema(input), strict: true };
}

function runCalls({ output }: Response, tools: readonly ClientTool[]): ResponseInputItem[] {
  return output
    .filter((item) => item.type === "function_call")
    .map(({ call_id, name, arguments: text }) => {
      const tool = tools.find((known) => known.name === name);
      if (!tool) throw new Error(`The client is to run '${name}', which it does not have.`);
      return { type: "function_call_output", call_id, output: tool.run(tool.input.parse(JSON.parse(text))) };
    });
}

function textOf({ output }: Response): string {
  const parts = output.filter((item) => item.type === "message").at(-1)?.content ?? [];
  return parts.map((part) => (part.type === "output_text" ? part.text : "")).join("");
}

function finishOf({ status, output, incomplete_details: details }: Response): string {
  if (status === "completed" && output.some(({ type }) => type === "function_call")) return "calls";
  if (details?.reason === "max_output_tokens") return "length";
  return status === "completed" ? "end" : `${status} ${details?.reason}`;
}

export const openaiClients: readonly TestClient[] = [
  { name: "openai create", isStreamed: false, work: (server, task) => workChained(server, task, create) },
  {
    name: "openai create, stateless",
    isStreamed: false,
    isStateless: true,
    work: (server, task) => workStateless(server, task, create),
  },
  {
    name: "openai create with stream",
    isStreamed: true,
    work: (server, task) => workChained(server, task, createStreamed),
  },
  {
    name: "openai create with stream, stateless",
    isStreamed: true,
    isStateless: true,
    work: (server, task) => workStateless(server, task, createStreamed),
  },
  {
    name: "openai responses.stream",
    isStreamed: true,
    work: (server, task) => workChained(server, task, stream),
  },
];
