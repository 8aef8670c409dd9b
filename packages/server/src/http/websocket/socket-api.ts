// What WebSocket connections need of the service that runs responses.

import type { Entry } from "../../engine/conversation.ts";
import type { EventSink } from "../../engine/event-sink.ts";
import type { Recall } from "../../run/planner.ts";
import type { Prepared, ResponsesApi } from "../responses-api.ts";

/** A request that was accepted, with what has to be known to follow it. */
export interface SocketPrepared extends Prepared {
  readonly request: Prepared["request"] & { readonly store: boolean; readonly tool_choice: unknown };
  readonly planned: {
    /** All that the model is to read, oldest first. */
    readonly history: readonly Entry[];
  };
}

export interface SocketApi extends Pick<ResponsesApi, "enqueue" | "follow" | "cancel"> {
  /** As over HTTP; `recall` knows the responses that a connection keeps. */
  prepare(owner: string, body: unknown, options: { recall: Recall }): Promise<SocketPrepared>;
  /** A response that the model is not asked for. */
  prepareWarmUp(owner: string, body: unknown, options: { recall: Recall }): Promise<SocketPrepared>;
  /** Sends the two events of such a response. */
  warmUp(prepared: SocketPrepared, sink: EventSink): void;
  /** Faults of the run are events of the stream. */
  runStreamed(prepared: SocketPrepared, sink: EventSink, signal: AbortSignal): Promise<void>;
}
