// A conversation with a model, whether it is asked directly or through a Rondo server: a view on the library's client.

import { type AnyTool, Client, type JsonObject, type ModelProvider } from "rondo";
import { BlockEvents, type ChatEvent, endReasonOf, endReasons } from "./chat-events.ts";
import type { ModelSource } from "./model-source.ts";

export interface ChatConversationOptions {
  /** Where models come from. */
  readonly source: ModelSource;
  readonly model: ModelProvider;
  readonly tools: readonly AnyTool[];
  readonly systemPrompt?: string | undefined;
}

/** How many rounds of tools one prompt may take. */
const maxToolRounds = 25;

export class ChatConversation implements AsyncDisposable {
  /** The tools that run here. */
  readonly tools: readonly AnyTool[];
  readonly #options: ChatConversationOptions;
  #client: Client;
  /** What a server has of the conversation, if it is one. */
  #items: JsonObject[] = [];
  #lastResponse: JsonObject | undefined;

  constructor(options: ChatConversationOptions) {
    this.#options = options;
    this.tools = options.tools;
    this.#client = this.#clientFor(options.model);
    options.source.onResponse = (response) => {
      this.#lastResponse = response;
      const { output } = response;
      if (Array.isArray(output)) this.#items.push(...(output as JsonObject[]));
    };
  }

  /** The model and its endpoint, for display. */
  get label(): string {
    const { name, endpoint } = this.#client.model;
    return /^https?:/.test(endpoint) ? `${name} at ${endpoint}` : name;
  }

  /** Asks the model. Aborting the signal ends the answer early; the conversation stays usable. */
  async *ask(prompt: string, signal: AbortSignal): AsyncGenerator<ChatEvent, void, void> {
    const client = this.#client;
    const itemCount = this.#items.length;
    const interrupt = () => void client.interrupt().catch(() => {});
    signal.addEventListener("abort", interrupt);
    const events = new BlockEvents();
    this.#lastResponse = undefined;
    this.#items.push({ type: "message", role: "user", content: prompt });
    try {
      await client.query(prompt);
      for await (const block of client.receiveMessages()) {
        if (block.type === "tool_result") this.#items.push(toOutputItem(block.tool_use_id, block.content));
        yield* events.read(block);
      }
    } catch (error) {
      this.#items.length = itemCount;
      this.#dropFailedAnswer();
      throw await this.#options.source.explain(error);
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
    const { stopReason = "completed", usage } = client.result ?? {};
    const reason = stopReason === "completed" ? endReasonOf(this.#lastResponse) : endReasons[stopReason];
    yield { type: "end", reason: signal.aborted ? "interrupted" : reason, usage };
  }

  /** Begins a new conversation. */
  clear(): void {
    this.#client = this.#clientFor(this.#client.model);
    this.#items = [];
    this.#lastResponse = undefined;
  }

  /** The names of the available models. */
  models(signal: AbortSignal): Promise<readonly string[]> {
    return this.#options.source.list(signal);
  }

  /** Continues with another model. Throws an error for the user if it does not exist. */
  async use(name: string, signal: AbortSignal): Promise<void> {
    const client = this.#clientFor(await this.#options.source.open(name, signal));
    client.messageHistory = this.#client.history;
    this.#client = client;
  }

  /** The conversation so far, as JSON. */
  transcript(): object {
    const { systemPrompt, source } = this.#options;
    const { model, history } = this.#client;
    const { name, endpoint } = model;
    if (source.keepsResponses)
      return {
        model: name,
        endpoint,
        instructions: systemPrompt ?? null,
        responseId: this.#lastResponse?.["id"] ?? null,
        items: this.#items,
      };
    const system = systemPrompt === undefined ? [] : [{ role: "system", content: systemPrompt }];
    return { model: name, endpoint, messages: [...system, ...history] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }

  /** Drops the partial text of a failed answer, and its prompt if nothing else has answered it. */
  #dropFailedAnswer(): void {
    const messages = this.#client.history;
    const last = messages.at(-1);
    if (last?.role === "assistant" && last.tool_calls === undefined) messages.pop();
    if (messages.at(-1)?.role === "user") messages.pop();
    this.#client.messageHistory = messages;
  }

  #clientFor(model: ModelProvider): Client {
    const { tools, systemPrompt } = this.#options;
    return new Client({
      model,
      tools,
      autoExecuteTools: true,
      maxToolIterations: maxToolRounds,
      maxTokens: null,
      includeToolUseDeltas: true,
      ...(systemPrompt !== undefined && { systemPrompt }),
    });
  }
}

function toOutputItem(callId: string, content: unknown): JsonObject {
  const output = typeof content === "string" ? content : (JSON.stringify(content) ?? "null");
  return { type: "function_call_output", call_id: callId, output };
}
