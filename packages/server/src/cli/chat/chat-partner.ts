// Who is talked to: a model directly, or a Rondo server. The chat knows only this much of either.

import type { AnyTool } from "rondo";

/** What comes of a prompt, in order. `end` is the last, unless the answer fails: then it is thrown. */
export type ChatEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  /** The model is still writing a call. */
  | { readonly type: "call.delta" }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: "result";
      readonly id: string;
      readonly name: string;
      readonly output: unknown;
      readonly isError: boolean;
    }
  /** Something that the person should know. */
  | { readonly type: "notice"; readonly text: string }
  | { readonly type: "end"; readonly reason: EndReason; readonly usage: ChatUsage | undefined };

/** `limit`: the tools were run too often. `length`: the longest answer, or the model's context, was reached. */
export type EndReason = "completed" | "interrupted" | "length" | "limit" | "filtered";

export interface ChatUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface ChatPartner extends AsyncDisposable {
  /** Who answers, for people: the model and where it is. */
  readonly label: string;
  /** The tools that run here. */
  readonly tools: readonly AnyTool[];
  /** Asks, and gives what comes. When the signal is aborted the answer ends soon; the conversation stays usable. */
  ask(prompt: string, signal: AbortSignal): AsyncIterable<ChatEvent>;
  /** Begins a new conversation. */
  clear(): void;
  /** The names of the models that there are. */
  models(signal: AbortSignal): Promise<readonly string[]>;
  /** Goes on with another model. Throws in words if it is known not to be there. */
  use(model: string, signal: AbortSignal): Promise<void>;
  /** The conversation so far, as JSON can hold it. */
  transcript(): object;
}

/** How often tools are run for one prompt. */
export const maxToolRounds = 25;
