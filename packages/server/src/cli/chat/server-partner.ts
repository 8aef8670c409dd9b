// Talks to a Rondo server: each answer is a response that goes on from the last one. Tools of the chat are functions
// of the client: the server passes their calls on, and they run here.

import type { AnyTool, JsonObject } from "rondo";
import type { FunctionCallItem, OutputItem } from "../../protocol/items.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import type { ApiClient } from "../api-client.ts";
import { ApiClientError } from "../api-client-error.ts";
import {
  type ChatEvent,
  type ChatPartner,
  type ChatUsage,
  type EndReason,
  maxToolRounds,
} from "./chat-partner.ts";
import { missingModel } from "./model-error-words.ts";
import { ResponseReader } from "./response-reader.ts";
import { runTool } from "./run-tool.ts";
import { addUsage } from "./usage.ts";

export interface ServerPartnerOptions {
  readonly api: ApiClient;
  /** Default: the one that the server takes when none is named, else the first of its list. */
  readonly model?: string | undefined;
  readonly tools: readonly AnyTool[];
  readonly systemPrompt?: string | undefined;
}

export class ServerPartner implements ChatPartner {
  readonly tools: readonly AnyTool[];
  readonly #api: ApiClient;
  readonly #instructions: string | undefined;
  readonly #byName: ReadonlyMap<string, AnyTool>;
  #model: string | undefined;
  /** What the server said that it used. */
  #usedModel: string | undefined;
  #previousId: string | undefined;
  /** Outputs of calls that the server still waits for; they go before the next prompt. */
  #owed: JsonObject[] = [];
  #items: (JsonObject | OutputItem)[] = [];

  constructor({ api, model, tools, systemPrompt }: ServerPartnerOptions) {
    this.#api = api;
    this.#model = model;
    this.tools = tools;
    this.#instructions = systemPrompt;
    this.#byName = new Map(tools.flatMap(withSubtools).map((tool) => [tool.wireName, tool]));
  }

  get label(): string {
    const model = this.#model ?? this.#usedModel ?? "the server's default model";
    return `${model} at ${this.#api.label}`;
  }

  async *ask(prompt: string, signal: AbortSignal): AsyncGenerator<ChatEvent, void, void> {
    let next: JsonObject[] = [{ type: "message", role: "user", content: prompt }];
    let usage: ChatUsage | undefined;
    let reason: EndReason = "limit";
    for (let round = 0; round <= maxToolRounds; round++) {
      const response = yield* this.#answer(next, signal);
      usage = addUsage(usage, usageOf(response));
      reason = reasonOf(response);
      if (signal.aborted || this.#owed.length === 0) break;
      if (round === maxToolRounds) {
        reason = "limit";
        break;
      }
      yield* this.#runCalls(response?.output.filter(isCall) ?? [], signal);
      if (signal.aborted) break;
      next = [];
    }
    yield { type: "end", reason: signal.aborted ? "interrupted" : reason, usage };
  }

  clear(): void {
    this.#previousId = undefined;
    this.#owed = [];
    this.#items = [];
  }

  models(signal: AbortSignal): Promise<readonly string[]> {
    return this.#api.models(signal);
  }

  async use(model: string, signal: AbortSignal): Promise<void> {
    const names = await this.#api.models(signal);
    if (!names.includes(model) && !names.includes(`${model}:latest`))
      throw missingModel(model, names, this.#api.label);
    this.#model = model;
  }

  transcript(): object {
    return {
      model: this.#model ?? this.#usedModel ?? null,
      endpoint: this.#api.label,
      instructions: this.#instructions ?? null,
      responseId: this.#previousId ?? null,
      items: this.#items,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  /** One response. Only when it has ended does the conversation go on from it. */
  async *#answer(
    next: readonly JsonObject[],
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, ResponseObject | undefined, void> {
    if (signal.aborted) return undefined;
    const input = [...this.#owed, ...next];
    const reader = new ResponseReader();
    // Not aborted at once: the server first ends the response in good order.
    const leaving = new AbortController();
    let cancelling: Promise<ResponseObject | undefined> | undefined;
    const cancel = () => {
      cancelling = this.#cancel(reader.id).finally(() => leaving.abort());
    };
    signal.addEventListener("abort", cancel);
    try {
      for await (const event of this.#events(input, leaving.signal)) {
        if (event.type === "notice") yield event;
        else yield* reader.read(event);
      }
      await cancelling;
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
    const response = (await cancelling) ?? reader.response;
    if (!response) return undefined;
    this.#usedModel = response.model;
    this.#previousId = response.id;
    this.#items.push(...input, ...response.output);
    this.#owed = response.output.filter(isCall).map((call) => outputOf(call, cancelledText));
    return response;
  }

  /** The events of a response. Where the server wants a model to be named, it gets its first. */
  async *#events(input: readonly JsonObject[], signal: AbortSignal) {
    try {
      yield* this.#api.create(this.#body(input), signal);
    } catch (error) {
      const isUnnamed = error instanceof ApiClientError && error.param === "model" && error.status === 400;
      if (!isUnnamed || this.#model !== undefined) throw error;
      const [first] = await this.#api.models(signal);
      if (first === undefined) throw error;
      this.#model = first;
      yield {
        type: "notice",
        text: `The server has several models; this is ${first}. /models shows the others.`,
      } as const;
      yield* this.#api.create(this.#body(input), signal);
    }
  }

  #body(input: readonly JsonObject[]): JsonObject {
    return {
      input: [...input],
      ...(this.#model !== undefined && { model: this.#model }),
      ...(this.#previousId !== undefined && { previous_response_id: this.#previousId }),
      ...(this.#instructions !== undefined && { instructions: this.#instructions }),
      ...(this.#byName.size > 0 && { tools: Array.from(this.#byName.values(), toFunction) }),
    };
  }

  /** Runs the calls at the same time, and notes what the server is owed. */
  async *#runCalls(
    calls: readonly FunctionCallItem[],
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, void, void> {
    const running = calls.map((call) => ({
      call,
      outcome: runTool(this.#byName.get(call.name), call, signal),
    }));
    for (const [index, { call, outcome }] of running.entries()) {
      const { output, text, isError } = await outcome;
      this.#owed[index] = outputOf(call, text);
      yield { type: "result", id: call.call_id, name: call.name, output, isError };
    }
  }

  async #cancel(id: string | undefined): Promise<ResponseObject | undefined> {
    if (id === undefined) return undefined;
    // Whether it is down or does not know the response: what it was asked is then not part of the conversation.
    return this.#api.cancel(id, AbortSignal.timeout(5000)).catch(() => undefined);
  }
}

const cancelledText = JSON.stringify({ error: "cancelled" });

function isCall(item: OutputItem): item is FunctionCallItem {
  return item.type === "function_call";
}

function outputOf({ call_id }: FunctionCallItem, output: string): JsonObject {
  return { type: "function_call_output", call_id, output };
}

function toFunction(tool: AnyTool): JsonObject {
  const { name, description, parameters } = tool.toOpenAI().function;
  return { type: "function", name, description, parameters: parameters as JsonObject, strict: false };
}

function withSubtools(tool: AnyTool): AnyTool[] {
  return [tool, ...tool.subtools.flatMap(withSubtools)];
}

/** The tokens of a response, if it tells them. */
export function usageOf(response: ResponseObject | undefined): ChatUsage | undefined {
  const usage = response?.usage;
  return usage ? { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens } : undefined;
}

/** Why a response has ended. */
export function reasonOf(response: ResponseObject | undefined): EndReason {
  if (!response) return "interrupted";
  switch (response.incomplete_details?.reason) {
    case undefined:
      return "completed";
    case "max_output_tokens":
      return "length";
    case "content_filter":
      return "filtered";
    case "cancelled":
      return "interrupted";
    default:
      return "limit";
  }
}
