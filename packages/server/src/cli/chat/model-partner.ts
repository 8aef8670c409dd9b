// Talks straight to a model, with the library's client.

import { type AnyTool, Client, type ModelProvider } from "rondo";
import { BlockEvents, endReasons } from "./block-events.ts";
import { type ChatEvent, type ChatPartner, maxToolRounds } from "./chat-partner.ts";
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
    const calls = new BlockEvents();
    try {
      await client.query(prompt);
      for await (const block of client.receiveMessages()) yield* calls.read(block);
    } catch (error) {
      throw await inWords(error, () => this.models(AbortSignal.timeout(2000)));
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
    const { stopReason = "completed", usage } = client.result ?? {};
    yield { type: "end", reason: signal.aborted ? "interrupted" : endReasons[stopReason], usage };
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
