// A conversation with a model, whether it is asked directly or through a Rondo server: a view on the library's client.

import {
  type AnyTool,
  Client,
  type JsonObject,
  type Message,
  type ModelProvider,
  type Session,
  type SessionEntry,
} from "rondo";
import { BlockEvents, type ChatEvent, endReasonOf, endReasons } from "./chat-events.ts";
import type { ModelSource } from "./model-source.ts";
import { type ChatInfo, chatInfoOf, infoEntry, type SavedChats, withInfo } from "./saved-chats.ts";

export interface ChatConversationOptions {
  /** Where models come from. */
  readonly source: ModelSource;
  readonly model: ModelProvider;
  readonly tools: readonly AnyTool[];
  readonly systemPrompt?: string | undefined;
  /** Where the conversation is stored as it grows. Default: nowhere. */
  readonly saved?: { readonly chats: SavedChats; readonly cwd: string } | undefined;
}

/** How many rounds of tools one prompt may take. */
const maxToolRounds = 50;

export class ChatConversation implements AsyncDisposable {
  /** The tools that run here. */
  readonly tools: readonly AnyTool[];
  readonly #options: ChatConversationOptions;
  #client: Client;
  #lastResponse: JsonObject | undefined;

  constructor(options: ChatConversationOptions) {
    this.#options = options;
    this.tools = options.tools;
    this.#client = this.#clientFor(options.model);
    options.source.onResponse = (response) => {
      this.#lastResponse = response;
    };
  }

  /** The model and its endpoint, for display. */
  get label(): string {
    const { name, endpoint } = this.#client.model;
    return /^https?:/.test(endpoint) ? `${name} at ${endpoint}` : name;
  }

  /** The messages so far. */
  get messages(): readonly Message[] {
    return this.#client.messageHistory;
  }

  /** Asks the model. Aborting the signal ends the answer early; the conversation stays usable. */
  async *ask(prompt: string, signal: AbortSignal): AsyncGenerator<ChatEvent, void, void> {
    const client = this.#client;
    const messageCount = client.messageHistory.length;
    const interrupt = () => void client.interrupt().catch(() => {});
    signal.addEventListener("abort", interrupt);
    const events = new BlockEvents();
    this.#lastResponse = undefined;
    try {
      await client.query(prompt);
      for await (const block of client.receiveMessages()) yield* events.read(block);
    } catch (error) {
      this.#dropFailedAnswer(messageCount);
      throw await this.#options.source.explain(error);
    } finally {
      signal.removeEventListener("abort", interrupt);
      await this.#noteResponse();
    }
    const { stopReason = "completed", usage } = client.result ?? {};
    const reason = stopReason === "completed" ? endReasonOf(this.#lastResponse) : endReasons[stopReason];
    yield { type: "end", reason: signal.aborted ? "interrupted" : reason, usage };
  }

  /** Begins a new conversation. */
  async clear(): Promise<void> {
    await this.#replace(this.#clientFor(this.#client.model));
  }

  /** Continues a stored conversation; as a copy with `fork`. Throws an error for the user if that is impossible. */
  async resume(session: Session, fork: boolean): Promise<void> {
    if (session.id === this.#client.sessionId && !fork) return;
    const { response } = chatInfoOf(session);
    const answered = session.messages.slice(0, response?.messages ?? 0);
    if (response) this.#options.source.continueFrom?.(response.id, answered);
    const client = this.#clientFor(this.#client.model, { session: session.id, fork });
    await client.loadSession().catch((error: unknown) => {
      throw explainLock(error);
    });
    await this.#replace(client);
  }

  /** Continues a conversation that was read from a file: as a new one. */
  async adopt({ messages }: Session): Promise<void> {
    const client = this.#clientFor(this.#client.model);
    client.messageHistory = messages;
    await this.#replace(client);
  }

  /** The names of the available models. */
  models(signal: AbortSignal): Promise<readonly string[]> {
    return this.#options.source.list(signal);
  }

  /** Continues with another model. Throws an error for the user if it does not exist. */
  async use(name: string, signal: AbortSignal): Promise<void> {
    const model = await this.#options.source.open(name, signal);
    const { messageHistory, sessionId } = this.#client;
    await this.#client.close(); // the next one writes to the same session
    const isStored = sessionId !== undefined && messageHistory.length > 0;
    const client = this.#clientFor(model, isStored ? { session: sessionId } : {});
    if (isStored) await client.loadSession();
    else client.messageHistory = messageHistory;
    this.#client = client;
    await this.#note({ model: model.name });
  }

  /** The conversation so far, in the format of a session's file. */
  entries(): SessionEntry[] {
    const { messageHistory: messages, sessionId: id = crypto.randomUUID() } = this.#client;
    return [
      { type: "session", version: 1, id, createdAt: new Date().toISOString() },
      infoEntry({ ...this.#info(), ...this.#response }),
      ...messages.map((message) => ({ type: "message", message }) as const),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }

  async #replace(client: Client): Promise<void> {
    await this.#client.close();
    this.#client = client;
    this.#lastResponse = undefined;
  }

  /** Drops the partial text of a failed answer, and its prompt if nothing else has answered it. */
  #dropFailedAnswer(messageCount: number): void {
    const messages = [...this.#client.messageHistory];
    const last = messages.at(-1);
    if (messages.length > messageCount && last?.role === "assistant" && last.tool_calls === undefined)
      messages.pop();
    if (messages.length > messageCount && messages.at(-1)?.role === "user") messages.pop();
    this.#client.messageHistory = messages;
  }

  /** Keeps the id of the last response, from which a later chat goes on. */
  async #noteResponse(): Promise<void> {
    await this.#note(this.#response);
  }

  get #response(): Pick<ChatInfo, "response" | "model"> {
    const { id, store } = this.#lastResponse ?? {};
    const { messageHistory: messages } = this.#client;
    if (typeof id !== "string" || store === false || messages.at(-1)?.role !== "assistant") return {};
    return { response: { id, messages: messages.length }, model: this.#client.model.name };
  }

  async #note(info: ChatInfo): Promise<void> {
    const { saved } = this.#options;
    const { sessionId, messageHistory } = this.#client;
    if (!saved || sessionId === undefined || messageHistory.length === 0 || Object.keys(info).length === 0)
      return;
    await saved.chats.store.append(sessionId, [infoEntry(info)]);
  }

  #info(): ChatInfo {
    const { source, systemPrompt, saved } = this.#options;
    const { name: model, endpoint } = this.#client.model;
    return {
      ...(saved && { cwd: saved.cwd }),
      ...(!source.keepsResponses && { model }), // a server may choose one when it is asked
      ...(/^https?:/.test(endpoint) && { endpoint, place: source.keepsResponses ? "server" : "model" }),
      ...(systemPrompt !== undefined && { systemPrompt }),
    };
  }

  #clientFor(model: ModelProvider, session: { session?: string; fork?: boolean } = {}): Client {
    const { tools, systemPrompt, saved } = this.#options;
    return new Client({
      model,
      tools,
      autoExecuteTools: true,
      maxToolIterations: maxToolRounds,
      maxTokens: null, // as the model's server has it, and so are all other settings
      temperature: null,
      includeToolUseDeltas: true,
      ...(systemPrompt !== undefined && { systemPrompt }),
      ...(saved && { sessionStore: withInfo(saved.chats.store, () => this.#info()), ...session }),
    });
  }
}

function explainLock(error: unknown): unknown {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== "session_locked") return error;
  const owner = /in use by (.*?)\. /.exec(message ?? "")?.[1] ?? "another process";
  return new Error(
    `This chat is open already, in ${owner}. Close it there, or continue in a copy with --fork.`,
    {
      cause: error,
    },
  );
}
