// The vocabulary of traces: what happens in a run, and when. The console's timeline, the spans of OpenTelemetry and the
// metrics are all made from it. Names are never changed after a release.

import type { JsonObject } from "../json/json-value.ts";
import type { AssistantMessage } from "../model/message.ts";
import type { FinishReason, ModelRequest, Usage } from "../model/provider.ts";

/** What went wrong, without its stack. */
export interface TraceError {
  /** The error's class, or its code. */
  readonly type: string;
  readonly message: string;
}

/**
 * One thing that happened. `atMs` is the time since 1970, with fractions of a millisecond. `answer` counts the requests
 * to the model in one run, from 0: all events of one request have the same number. A run that continues an earlier one
 * counts on from its answers.
 */
export type TraceEvent = { readonly atMs: number } & (
  | { readonly type: "run.started"; readonly name?: string }
  /** `aborted` also if the run was left. */
  | { readonly type: "run.finished"; readonly reason: string; readonly usage?: Usage }
  | { readonly type: "run.failed"; readonly error: TraceError }
  /** The loop asks the model. */
  | {
      readonly type: "model.asked";
      readonly answer: number;
      readonly model: string;
      readonly endpoint: string;
      readonly messages: number;
      readonly tools: number;
      /** How many tokens the model can read and write, if that is known. */
      readonly contextWindow?: number;
      /** What the model is asked, before it is cut to a window or put into the words of a server. */
      readonly request?: () => Pick<ModelRequest, "messages" | "tools" | "settings" | "output">;
    }
  /** All slots of the endpoint are taken: the request waits. Without a wait, neither event comes. */
  | { readonly type: "slot.awaited"; readonly answer: number }
  | { readonly type: "slot.taken"; readonly answer: number }
  /** A request went out. `body` makes the exact text of it, on demand; headers are never in it. */
  | {
      readonly type: "request.sent";
      readonly answer: number;
      /** From 1. */
      readonly attempt: number;
      readonly url: string;
      readonly bytes: number;
      /** Whether the answer is requested as a stream. Default: false. */
      readonly isStream?: boolean;
      readonly body: () => string;
    }
  /** A request failed, and another attempt follows. */
  | {
      readonly type: "request.retried";
      readonly answer: number;
      /** The one that failed. */
      readonly attempt: number;
      readonly waitMs: number;
      readonly error: TraceError;
    }
  /** The server accepted the request: the head of its reply came. Until the first token it reads the prompt. */
  | { readonly type: "model.accepted"; readonly answer: number; readonly status: number }
  /** The first token came: text, thinking or a call. */
  | { readonly type: "model.started"; readonly answer: number }
  /** Bytes of the answer as they came, decoded. Only for a tracer with `wantsChunks`. */
  | { readonly type: "model.chunk"; readonly answer: number; readonly text: string }
  | {
      readonly type: "model.finished";
      readonly answer: number;
      readonly finishReason: FinishReason;
      readonly usage?: Usage;
      /** What the server measured itself, such as the `timings` of llama.cpp, as it came. */
      readonly timings?: JsonObject;
      /** What the model said. */
      readonly message?: () => AssistantMessage;
    }
  | { readonly type: "model.failed"; readonly answer: number; readonly error: TraceError }
  /** A call was read and checked. */
  | {
      readonly type: "call.checked";
      readonly answer: number;
      readonly callId: string;
      readonly name: string;
      readonly decision: "run" | "leave" | "ask" | "reject";
      /** Why it was rejected. */
      readonly reason?: string;
      readonly error?: string;
      /** What had to be guessed or mended to read it: `repaired arguments`, `read from text` … Default: nothing. */
      readonly doubts?: readonly string[];
    }
  /** A turn begins: its hooks, its lock, then the tool. */
  | {
      readonly type: "turn.started";
      readonly turnId: string;
      readonly name: string;
      readonly callId?: string;
      /** From 1. */
      readonly attempt: number;
      /** As it was given: without fixed arguments, which may be secrets, and before lazy values are resolved. */
      readonly input: () => unknown;
    }
  /** Another turn holds the tool's lock: this one waits. Without a wait, neither event comes. */
  | { readonly type: "lock.awaited"; readonly turnId: string }
  | { readonly type: "lock.taken"; readonly turnId: string }
  /** A streaming tool yielded its `count`th value. */
  | { readonly type: "turn.progress"; readonly turnId: string; readonly count: number }
  | {
      readonly type: "turn.finished";
      readonly turnId: string;
      readonly stopReason: string;
      readonly error?: TraceError;
      /** What came of it. */
      readonly output?: () => unknown;
    }
  /** The request does not begin with the prompt of the one before: the server's cache is of no use from there on. */
  | {
      readonly type: "prompt.changed";
      readonly part: "tools" | "messages";
      /** The first tool or message that differs, from 0. */
      readonly index: number;
      readonly message: string;
    }
  /** The server read only a part of the prompt, and answered all the same. */
  | {
      readonly type: "prompt.cut";
      readonly reportedTokens: number;
      /** The fewest that the whole prompt can have. */
      readonly expectedTokens: number;
      readonly message: string;
    }
  | { readonly type: "warning"; readonly message: string; readonly code?: string }
);

/** Receives what happens in a run. An error that it throws is logged and changes nothing else. */
export interface Tracer {
  record(event: TraceEvent): void;
  /** The tracer of one run, when it begins: for a tracer that tells runs at the same time apart. Default: this one. */
  forRun?(): Tracer;
  /** Whether it gets the bytes of each answer as they come. Default: false. */
  readonly wantsChunks?: boolean;
  /** Headers that connect a request to its trace, such as `traceparent`. Default: none. */
  headers?(of: { readonly answer: number } | { readonly turnId: string }): Readonly<Record<string, string>>;
  /** Runs a tool's function as a part of its turn, for a tracer that keeps a current span. Default: it just runs. */
  within?<T>(turnId: string, work: () => T): T;
  /** Sends a request to the model as a part of its answer. Default: it is just sent. */
  withinAnswer?<T>(answer: number, send: () => T): T;
}
