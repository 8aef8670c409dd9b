// One prompt and its answer: messages as they come, then the result.

import { checkPrompt } from "../agent/check-prompt.ts";
import { Run } from "../async/run.ts";
import { checkOptions, checkPlainObject } from "../error/check.ts";
import type { ContentPart } from "../model/message.ts";
import type { InputSchema } from "../tool/infer.ts";
import type { AnyTool } from "../tool/tool.ts";
import type { ToolSource } from "../tool/tool-source.ts";
import type { Block, ToolResultBlock } from "./blocks.ts";
import { Client, type RunResult } from "./client.ts";
import { InvalidOutputError } from "./client-errors.ts";
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
export interface AssistantMessage<T = AnyTool> {
  type: "assistant";
  role: "assistant";
  content: Exclude<Block<T>, { type: "tool_result" }>[];
  /** The text of the content; empty if it has none. */
  text: string;
}

/** The result of a tool, in automatic mode. */
export interface UserMessage<T = AnyTool> {
  type: "user";
  role: "user";
  content: ToolResultBlock<T>[];
}

/** The last message. */
export type ResultMessage<Output = unknown> = {
  type: "result";
  /** The id of the session, if it is stored. */
  session_id?: string;
} & RunResult<Output>;

export type QueryMessage<Output = unknown, T = AnyTool> =
  | SystemMessage
  | AssistantMessage<T>
  | UserMessage<T>
  | ResultMessage<Output>;

export interface QueryOptions<
  S extends InputSchema | undefined = InputSchema | undefined,
  T extends AnyTool | ToolSource = AnyTool | ToolSource,
> {
  prompt: string | ContentPart[];
  options: ClientOptions<S, T>;
}

/** The answer to a query: iterate its messages, or await `result()`. */
export class Query<Output = unknown, T = AnyTool> extends Run<QueryMessage<Output, T>> {
  readonly #client: Client;
  readonly #isShaped: boolean;
  /** Also set if it is interrupted before it begins. */
  #isInterrupted = false;

  constructor(prompt: string | ContentPart[], options: ClientOptions) {
    super((signal) => this.#messages(prompt, signal), { graceMs: options.graceMs });
    this.#client = new Client(options);
    this.#isShaped = options.output !== undefined;
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

  /** Waits for the result. With an `output` schema, a run that ends without an output is an `InvalidOutputError`. */
  async result(): Promise<RunResult<Output> & { readonly output: Output }> {
    for await (const message of this)
      if (message.type === "result") {
        const { type: _, session_id: __, ...result } = message;
        return this.#withOutput(result);
      }
    return this.#withOutput(this.#result);
  }

  #withOutput(result: RunResult): RunResult<Output> & { readonly output: Output } {
    const { stopReason, text } = result;
    if (this.#isShaped && stopReason !== "completed") throw InvalidOutputError.missing(stopReason, text);
    return result as RunResult<Output> & { readonly output: Output };
  }

  async *#messages(
    prompt: string | ContentPart[],
    signal: AbortSignal,
  ): AsyncGenerator<QueryMessage<Output, T>, void, void> {
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
        for await (const block of client.receiveMessages()) yield toMessage(block as Block<T>);
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
export function query<
  const S extends InputSchema | undefined = undefined,
  T extends AnyTool | ToolSource = AnyTool | ToolSource,
>(asked: QueryOptions<S, T>): Query<ShapedBy<S>, T> {
  checkOptions("query", asked, ["prompt", "options"]);
  checkPrompt(asked.prompt);
  return new Query(asked.prompt, checkPlainObject("options", asked.options));
}

function toMessage<T>(block: Block<T>): AssistantMessage<T> | UserMessage<T> {
  if (block.type === "tool_result") return { type: "user", role: "user", content: [block] };
  return {
    type: "assistant",
    role: "assistant",
    content: [block as AssistantMessage<T>["content"][number]],
    text: block.type === "text" ? block.text : "",
  };
}
