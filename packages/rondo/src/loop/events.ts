// Everything that happens in a run of the loop, as one union. Names are never changed after a release.

import type { JsonObject } from "../json/json-value.ts";
import type { AssistantMessage, ToolMessage } from "../model/message.ts";
import type { FinishReason, Usage } from "../model/provider.ts";
import type { PromptChange, PromptCut } from "./prompt-watch.ts";
import type { RunState } from "./state.ts";

/** A call that passed all checks. */
export interface ReadyCall {
  readonly id: string;
  /** The full name of the tool, `parent.child` for a subtool. */
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/** Why a call was not accepted. */
export type RejectReason =
  | "unknown"
  | "not_allowed"
  | "invalid"
  | "truncated"
  | "denied"
  | "blocked"
  | "repeated";

/** Why a run ended. */
export type RunReason = "completed" | "client_calls" | "max_turns" | "max_tool_calls" | "length" | "aborted";

export type LoopEvent =
  /** The server accepted the request: its answer began. */
  | { readonly type: "model.started"; readonly model: string }
  | { readonly type: "text.delta"; readonly text: string }
  | { readonly type: "thinking.delta"; readonly text: string }
  /** The model began a call; its arguments follow in pieces, unchecked. */
  | { readonly type: "call.started"; readonly id: string; readonly name: string }
  | { readonly type: "call.delta"; readonly id: string; readonly text: string }
  /** A call is complete and passed all checks. It runs here, or is left to the client or until a person allows it. */
  | ({ readonly type: "call.ready"; readonly decision: "run" | "leave" | "ask" } & ReadyCall)
  /** A call is complete but will not run; the model reads `error`. */
  | {
      readonly type: "call.rejected";
      readonly id: string;
      readonly name: string;
      /** The arguments as the model wrote them. */
      readonly raw: string;
      readonly reason: RejectReason;
      readonly error: string;
    }
  /**
   * One answer of the model is complete, or was interrupted, and `message` belongs to the conversation. `usage` of an
   * interrupted one is estimated.
   */
  | {
      readonly type: "model.finished";
      readonly message: AssistantMessage;
      readonly finishReason: FinishReason;
      readonly usage: Usage | undefined;
      readonly state: RunState;
    }
  /**
   * A tool is about to run. It starts when the next event is asked for, or the function of `runToEnd()` is done with this
   * one. `state` is the same for a whole round.
   */
  | ({ readonly type: "tool.started"; readonly state: RunState } & ReadyCall)
  /** A streaming tool yielded a value. */
  | { readonly type: "tool.progress"; readonly id: string; readonly name: string; readonly value: unknown }
  /** A call has its answer, and `message` belongs to the conversation. In the order of the calls. */
  | {
      readonly type: "tool.finished";
      readonly id: string;
      readonly name: string;
      readonly input: Record<string, unknown>;
      readonly message: ToolMessage;
      /** The tool's result, or what the model reads of its failure. */
      readonly result: unknown;
      readonly isError: boolean;
    }
  /** `code` is set for what a program may act on: `shape_in_words`. */
  | { readonly type: "warning"; readonly message: string; readonly code?: string }
  /** The request does not begin with the prompt of the one before it: the server's cache is of no use from there on. */
  | ({ readonly type: "prompt.changed" } & PromptChange)
  /** The server read only a part of the prompt, and answered all the same. `usage.cutTokens` counts it. */
  | ({ readonly type: "prompt.cut" } & PromptCut)
  /** An event of the model's server, as it came: a tool that it runs itself, or a call it wants approved. */
  | { readonly type: "server.event"; readonly event: JsonObject }
  /** Always the last, unless the run fails or is left. `usage` adds up what the server reported, and estimates of answers that broke off. */
  | {
      readonly type: "run.finished";
      readonly reason: RunReason;
      readonly usage: Usage | undefined;
      readonly state: RunState;
    };
