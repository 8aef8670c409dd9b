// One prompt, one answer: messages as they come, and a result at the end.

import { checkPrompt } from "../agent/check-prompt.ts";
import { Run } from "../async/run.ts";
import { checkOptions, checkPlainObject } from "../error/check.ts";
import type { RunReason } from "../loop/events.ts";
import type { ContentPart } from "../model/message.ts";
import type { Usage } from "../model/provider.ts";
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
}

/** Something new that the model has said: a piece of text or thinking, or a tool call. */
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
export interface ResultMessage<Output = unknown> {
  type: "result";
  text: string;
  output: Output | undefined;
  usage: Usage | undefined;
  stopReason: RunReason;
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
  readonly #state: { isInterrupted: boolean };

  constructor(prompt: string | ContentPart[], options: ClientOptions) {
    const client: Client = new Client(options);
    const state = { isInterrupted: false };
    const start = (signal: AbortSignal) => messages(client, prompt, signal, state);
    super(start as (signal: AbortSignal) => AsyncGenerator<QueryMessage<Output>, void, void>, {
      graceMs: options.graceMs,
    });
    this.#client = client;
    this.#state = state;
  }

  /** Ends the answer: the connection closes, tools are aborted, and the result says `aborted`. */
  async interrupt(): Promise<void> {
    this.#state.isInterrupted = true; // also if it has not begun
    await this.#client.interrupt();
  }

  /** Just the result, once it is there. */
  async result(): Promise<RunResult<Output>> {
    for await (const message of this)
      if (message.type === "result") {
        const { text, output, usage, stopReason } = message;
        return { text, output, usage, stopReason };
      }
    return (this.#client.result ?? interrupted) as RunResult<Output>;
  }
}

/**
 * Asks a model once, without history. By default tools are not run; with `autoExecuteTools` they are.
 * Options and their defaults are those of `Client`.
 */
export function query<const S extends InputSchema | undefined = undefined>(
  asked: QueryOptions<S>,
): Query<ShapedBy<S>> {
  checkOptions("query", asked, ["prompt", "options"]);
  checkPrompt(asked.prompt);
  return new Query(asked.prompt, checkPlainObject("options", asked.options));
}

async function* messages(
  client: Client,
  prompt: string | ContentPart[],
  signal: AbortSignal,
  state: { readonly isInterrupted: boolean },
): AsyncGenerator<QueryMessage, void, void> {
  if (state.isInterrupted) {
    yield { type: "result", ...interrupted };
    return;
  }
  // Leaving must also end a request that has not been accepted yet.
  signal.addEventListener("abort", () => void client.interrupt().catch(() => {}), { once: true });
  await client.query(prompt);
  if (!state.isInterrupted)
    yield {
      type: "system",
      role: "system",
      subtype: "init",
      model: client.model.name,
      tools: client.toolNames,
    };
  for await (const block of client.receiveMessages()) yield toMessage(block);
  yield { type: "result", ...(client.result ?? interrupted) };
}

const interrupted: RunResult = { text: "", output: undefined, usage: undefined, stopReason: "aborted" };

function toMessage(block: Block): QueryMessage {
  if (block.type === "tool_result") return { type: "user", role: "user", content: [block] };
  return {
    type: "assistant",
    role: "assistant",
    content: [block],
    text: block.type === "text" ? block.text : "",
  };
}
