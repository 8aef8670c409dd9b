// Talks straight to a model, with the library's client.

import { type AnyTool, type Block, Client, type ModelProvider, type RunReason } from "rondo";
import { type ChatEvent, type ChatPartner, type EndReason, maxToolRounds } from "./chat-partner.ts";
import { inWords } from "./model-error-words.ts";
import type { ModelSource } from "./model-source.ts";

export interface ModelPartnerOptions {
  /** Where models come from. */
  readonly source: ModelSource;
  readonly model: ModelProvider;
  readonly tools: readonly AnyTool[];
  readonly systemPrompt?: string | undefined;
}

export class ModelPartner implements ChatPartner {
  readonly tools: readonly AnyTool[];
  readonly #options: ModelPartnerOptions;
  #client: Client;

  constructor(options: ModelPartnerOptions) {
    this.#options = options;
    this.tools = options.tools;
    this.#client = this.#clientFor(options.model);
  }

  get label(): string {
    const { name, endpoint } = this.#client.model;
    return /^https?:/.test(endpoint) ? `${name} at ${endpoint}` : name;
  }

  async *ask(prompt: string, signal: AbortSignal): AsyncGenerator<ChatEvent, void, void> {
    const client = this.#client;
    const interrupt = () => void client.interrupt().catch(() => {});
    signal.addEventListener("abort", interrupt);
    const calls = new CallReader();
    try {
      await client.query(prompt);
      for await (const block of client.receiveMessages()) yield* calls.read(block);
    } catch (error) {
      throw await inWords(error, () => this.models(AbortSignal.timeout(2000)));
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
    const { stopReason = "completed", usage } = client.result ?? {};
    yield { type: "end", reason: signal.aborted ? "interrupted" : reasons[stopReason], usage };
  }

  clear(): void {
    this.#client = this.#clientFor(this.#client.model);
  }

  models(signal: AbortSignal): Promise<readonly string[]> {
    return this.#options.source.list(signal);
  }

  async use(name: string, signal: AbortSignal): Promise<void> {
    const model = await this.#options.source.open(name, signal);
    const client = this.#clientFor(model);
    client.messageHistory = this.#client.history;
    this.#client = client;
  }

  transcript(): object {
    const { systemPrompt } = this.#options;
    const { model, history } = this.#client;
    const system = systemPrompt === undefined ? [] : [{ role: "system", content: systemPrompt }];
    return { model: model.name, endpoint: model.endpoint, messages: [...system, ...history] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
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

const reasons: Record<RunReason, EndReason> = {
  completed: "completed",
  client_calls: "completed",
  max_turns: "limit",
  max_tool_calls: "limit",
  length: "length",
  aborted: "interrupted",
};

/** The blocks of an answer as events: one call and one result each, however it went. */
class CallReader {
  readonly #names = new Map<string, string>();
  readonly #failed = new Set<string>();

  *read(block: Block): Generator<ChatEvent> {
    switch (block.type) {
      case "text":
        yield { type: "text", text: block.text };
        return;
      case "thinking":
        yield { type: "thinking", text: block.thinking };
        return;
      case "tool_use_delta":
        yield { type: "call.delta" };
        return;
      case "tool_use":
        yield this.#call(block.id, block.name, block.input);
        return;
      case "tool_use_error": {
        // One that could not even be read was never a call.
        if (!this.#names.has(block.id)) yield this.#call(block.id, block.name, block.raw_data ?? "");
        this.#failed.add(block.id);
        yield { type: "result", id: block.id, name: block.name, output: block.error, isError: true };
        return;
      }
      case "tool_result": {
        const id = block.tool_use_id;
        if (this.#failed.has(id)) return;
        const name = this.#names.get(id) ?? "";
        yield { type: "result", id, name, output: block.content, isError: block.is_error };
      }
    }
  }

  #call(id: string, name: string, input: unknown): ChatEvent {
    this.#names.set(id, name);
    return { type: "call", id, name, input };
  }
}
