// What the tests of models behind the Responses API share: a prompt, a tool, and ways to ask.

import { tool } from "../../../tool/define.ts";
import type { ModelDelta, ModelRequest } from "../../provider.ts";
import { type ResponsesModelOptions, responsesModel } from "../responses-model.ts";
import { type Answer, startResponsesServer } from "./responses-server.ts";

export const hello: ModelRequest = { messages: [{ role: "user", content: "Hello!" }] };
export const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);

/** Asks once, and returns what came up to the end or the error. */
export async function ask(url: string, options: ResponsesModelOptions = {}, request = hello) {
  const deltas: ModelDelta[] = [];
  try {
    const model = responsesModel(url, { model: "m", retry: false, ...options });
    for await (const delta of model.stream(request)) deltas.push(delta);
    return { deltas, error: undefined };
  } catch (error) {
    return { deltas, error: error as Error };
  }
}

/** Asks a server that gives this answer. */
export async function answers(answer: Answer, options: ResponsesModelOptions = {}) {
  const { url } = await startResponsesServer([answer]);
  return ask(url, options);
}
