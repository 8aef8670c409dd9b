// The steps of a round trip through the Responses API, with nothing kept on the server.

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

export function responsesSteps(target: Target): Steps {
  return {
    answer: (signal) => answerStep(target, signal),
    stream: (signal) => streamStep(target, signal),
    tool: (signal) => toolStep(target, signal),
  };
}

async function answerStep(target: Target, signal: AbortSignal): Promise<Finding> {
  const { output = [] } = await respond(target, { input: answerPrompt }, signal);
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
  const startedAt = performance.now();
  const answer = await post(target, { input: streamPrompt, stream: true }, signal);
  let firstMs = 0;
  let pieceCount = 0;
  let rest = "";
  let end: { type?: string; response?: ResponseBody } | undefined;
  for await (const bytes of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const frames = (rest + bytes).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      const data = /^data: (\{.*\})$/m.exec(frame)?.[1];
      if (data === undefined) continue;
      const event = JSON.parse(data) as NonNullable<typeof end>;
      if (event.type === "response.output_text.delta" && ++pieceCount === 1)
        firstMs = performance.now() - startedAt;
      if (event.response !== undefined) end = event;
    }
  }
  if (end?.type === "response.failed") throw new Error(end.response?.error?.message ?? "the response failed");
  const output = end?.response?.output ?? [];
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
  const { output = [] } = await respond(target, { input: [question], tools }, signal);
  const call = output.find(({ type, name }) => type === "function_call" && name === toolName);
  if (call === undefined)
    return {
      status: "failed",
      code: "no_tool_call",
      message: `it never called the tool: it answered ${quote(textIn(output))}`,
      advice: "Run `rondo doctor --model-url URL` with the address of the model server: it tells why.",
    };
  const { a, b } = JSON.parse(call.arguments ?? "{}") as { a: number; b: number };
  const result = { type: "function_call_output", call_id: call.call_id, output: String(a + b) };
  const second = await respond(target, { input: [question, ...output, result], tools }, signal);
  return judgeUse(`add(${a}, ${b})`, textIn(second.output ?? []), thinkingIn(second.output ?? []));
}

async function respond(target: Target, body: object, signal: AbortSignal): Promise<ResponseBody> {
  const answer = (await (await post(target, body, signal)).json()) as ResponseBody;
  if (answer.error) throw new Error(answer.error.message ?? "the response failed");
  return answer;
}

async function post({ base, apiKey, model }: Target, body: object, signal: AbortSignal): Promise<Response> {
  const answer = await fetch(`${base}/responses`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({ model, store: false, max_output_tokens: maxTokens, ...body }),
    signal,
  });
  if (answer.ok) return answer;
  const text = await answer.text();
  let said = text.slice(0, 200);
  try {
    said = (JSON.parse(text) as ResponseBody).error?.message ?? said;
  } catch {
    // A proxy may answer with anything.
  }
  throw new Error(`status ${answer.status}: ${said}`);
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
