// One prompt and its answer: messages as they come, then the result.

import { checkPrompt } from "../agent/check-prompt.ts";
import { Run } from "../async/run.ts";
import { checkOptions, checkPlainObject } from "../error/check.ts";
import type { ContentPart } from "../model/message.ts";
import type { InputSchema } from "../tool/infer.ts";
import type { Block, ToolResultBlock } from "./blocks.ts";
import { Client, type RunResult } from "./client.ts";
import type { ClientOptions, ShapedBy } from "./client-options.ts";

/** The first message: the server has accepted the request. */
export interface SystemMessage {
  type: "system";
  role: "system";
  subtype: "init";
  model: string;
  /** The names of the tools that the model was offered. */
  tools: string[];
  /** The id of the session, if it is stored. */
  session_id?: string;
}

/** A piece of the model's answer: text, thinking or a tool call. */
export interface AssistantMessage {
  type: "assistant";
  role: "assistant";
  content: Exclude<Block, ToolResultBlock>[];
  /** The text of the content; empty if it has none. */
  text: string;
}

/** The result of a tool, in automatic mode. */
export interface UserMessage {
  type: "user";
  role: "user";
  content: ToolResultBlock[];
}

/** The last message. */
export interface ResultMessage<Output = unknown> extends RunResult<Output> {
  type: "result";
  /** The id of the session, if it is stored. */
  session_id?: string;
}

export type QueryMessage<Output = unknown> =
  | SystemMessage
  | AssistantMessage
  | UserMessage
  | ResultMessage<Output>;

export interface QueryOptions<S extends InputSchema | undefined = InputSchema | undefined> {
  prompt: string | ContentPart[];
  options: ClientOptions<S>;
}

/** The answer to a query: iterate its messages, or await `result()`. */
export class Query<Output = unknown> extends Run<QueryMessage<Output>> {
  readonly #client: Client;
  /** Also set if it is interrupted before it begins. */
  #isInterrupted = false;

  constructor(prompt: string | ContentPart[], options: ClientOptions) {
    super((signal) => this.#messages(prompt, signal), { graceMs: options.graceMs });
    this.#client = new Client(options);
  }

  /** The id of the session, to resume it with; undefined if nothing is stored. */
  get sessionId(): string | undefined {
    return this.#client.sessionId;
  }

  /** Ends the answer: the connection closes, tools are aborted, and the result says `aborted`. */
  async interrupt(): Promise<void> {
    this.#isInterrupted = true;
    await this.#client.interrupt();
  }

  /** Waits for the result. */
  async result(): Promise<RunResult<Output>> {
    for await (const message of this)
      if (message.type === "result") {
        const { type: _, ...result } = message;
        return result;
      }
    return this.#result;
  }

  async *#messages(
    prompt: string | ContentPart[],
    signal: AbortSignal,
  ): AsyncGenerator<QueryMessage<Output>, void, void> {
    const client = this.#client;
    const session = client.sessionId === undefined ? {} : { session_id: client.sessionId };
    if (!this.#isInterrupted) {
      // Leaving must also end a request that is not accepted yet.
      signal.addEventListener("abort", () => void this.interrupt().catch(() => {}), { once: true });
      try {
        await client.query(prompt);
        const { model, toolNames: tools } = client;
        if (!this.#isInterrupted)
          yield { type: "system", role: "system", subtype: "init", model: model.name, tools, ...session };
        for await (const block of client.receiveMessages()) yield toMessage(block);
      } finally {
        await client.close();
      }
    }
    yield { type: "result", ...this.#result, ...session };
  }

  get #result(): RunResult<Output> {
    const interrupted = { text: "", output: undefined, usage: undefined, stopReason: "aborted" } as const;
    return (this.#client.result as RunResult<Output> | undefined) ?? interrupted;
  }
}

/**
 * Asks a model once, without history unless it resumes a `session`. By default tools are not run; with `autoExecuteTools` they are.
 * Options and their defaults are those of `Client`.
 */
export function query<const S extends InputSchema | undefined = undefined>(
  asked: QueryOptions<S>,
): Query<ShapedBy<S>> {
  checkOptions("query", asked, ["prompt", "options"]);
  checkPrompt(asked.prompt);
  return new Query(asked.prompt, checkPlainObject("options", asked.options));
}

function toMessage(block: Block): AssistantMessage | UserMessage {
  if (block.type === "tool_result") return { type: "user", role: "user", content: [block] };
  return {
    type: "assistant",
    role: "assistant",
    content: [block],
    text: block.type === "text" ? block.text : "",
  };
}
