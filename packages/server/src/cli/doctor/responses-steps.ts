// The steps of a round trip through the Responses API, with nothing kept on the server.

import type { JsonObject } from "rondo";
import { createApiClient } from "../api-client.ts";
import { refusal } from "../api-client-error.ts";
import { quote } from "./ask.ts";
import {
  answerPrompt,
  maxTokens,
  streamPrompt,
  toolDescription,
  toolName,
  toolPrompt,
  withoutText,
} from "./questions.ts";
import type { Finding } from "./report.ts";
import { type Steps, wordPieces } from "./round-trip.ts";
import { judgeUse } from "./tool-step.ts";

interface Target {
  /** Ends in `/v1`. */
  readonly base: string;
  readonly apiKey: string | undefined;
  readonly model: string;
}

interface Item {
  readonly type?: string;
  readonly name?: string;
  readonly call_id?: string;
  readonly arguments?: string;
  readonly content?: readonly { readonly text?: string }[];
}

interface ResponseBody {
  readonly error?: { readonly message?: string } | null;
  readonly output?: readonly Item[];
}

const common = { store: false, max_output_tokens: maxTokens };

export function responsesSteps(target: Target): Steps {
  return {
    answer: (signal) => answerStep(target, signal),
    stream: (signal) => streamStep(target, signal),
    tool: (signal) => toolStep(target, signal),
  };
}

async function answerStep(target: Target, signal: AbortSignal): Promise<Finding> {
  const output = await whole(target, answerPrompt, signal);
  const text = textIn(output);
  return (
    withoutText({ text, thinking: thinkingIn(output) }) ?? {
      status: "ok",
      code: "ok",
      message: `it said ${quote(text)}`,
    }
  );
}

async function streamStep(target: Target, signal: AbortSignal): Promise<Finding> {
  const { output, pieceCount, firstMs } = await streamed(target, { input: streamPrompt }, signal);
  return (
    withoutText({ text: textIn(output), thinking: thinkingIn(output) }) ?? wordPieces(pieceCount, firstMs)
  );
}

async function toolStep(target: Target, signal: AbortSignal): Promise<Finding> {
  const number = { type: "number" };
  const tools = [
    {
      type: "function",
      name: toolName,
      description: toolDescription,
      parameters: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
    },
  ];
  const question = { type: "message", role: "user", content: toolPrompt };
  const { output } = await streamed(target, { input: [question], tools }, signal);
  const call = output.find(({ type, name }) => type === "function_call" && name === toolName);
  if (call === undefined)
    return {
      status: "failed",
      code: "no_tool_call",
      message: `it never called the tool: it answered ${quote(textIn(output))}`,
      advice: "Run `rondo doctor --model-url URL` with the address of the model server: it tells why.",
    };
  const { a, b } = JSON.parse(call.arguments ?? "{}") as { a: number; b: number };
  const result = { type: "function_call_output", call_id: call.call_id ?? "", output: String(a + b) };
  const input = [question, ...(output as JsonObject[]), result];
  const second = await streamed(target, { input, tools }, signal);
  return judgeUse(`add(${a}, ${b})`, textIn(second.output), thinkingIn(second.output));
}

/** A response that is streamed: what came out, and how it came. */
async function streamed({ base, apiKey, model }: Target, body: JsonObject, signal: AbortSignal) {
  const api = createApiClient({ baseUrl: base, apiKey });
  const startedAt = performance.now();
  let output: readonly Item[] = [];
  let firstMs = 0;
  let pieceCount = 0;
  for await (const event of api.create({ model, ...common, ...body }, signal)) {
    if (event.type === "error") throw new Error(event.message);
    if (event.type === "response.output_text.delta" && ++pieceCount === 1)
      firstMs = performance.now() - startedAt;
    if (!("response" in event)) continue;
    if (event.response.error) throw new Error(event.response.error.message);
    output = event.response.output;
  }
  return { output, pieceCount, firstMs };
}

/** A response in one piece of JSON. */
async function whole(
  { base, apiKey, model }: Target,
  input: string,
  signal: AbortSignal,
): Promise<readonly Item[]> {
  const answer = await fetch(`${base}/responses`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({ model, input, ...common }),
    signal,
  });
  if (!answer.ok) throw await refusal(base, answer);
  const { output = [], error } = (await answer.json()) as ResponseBody;
  if (error) throw new Error(error.message);
  return output;
}

function textIn(output: readonly Item[]): string {
  return output
    .filter(({ type }) => type === "message")
    .flatMap(({ content = [] }) => content.map(({ text = "" }) => text))
    .join("")
    .trim();
}

function thinkingIn(output: readonly Item[]): string {
  return output
    .filter(({ type }) => type === "reasoning")
    .flatMap(({ content = [] }) => content.map(({ text = "" }) => text))
    .join("");
}
