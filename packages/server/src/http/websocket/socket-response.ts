// One response on a connection, from its request to its last event.

import type { Entry } from "../../engine/conversation.ts";
import { type EventSink, ForwardingSink } from "../../engine/event-sink.ts";
import { ApiError } from "../../protocol/api-error.ts";
import type { OutputItem } from "../../protocol/items.ts";
import type { PreparedRun } from "../../run/prepare.ts";
import type { TraceHeaders } from "../../run/telemetry.ts";
import { ClientLeft } from "../exchange.ts";
import type { ResponsesApi } from "../route.ts";
import type { ClientView } from "../shown-status.ts";
import type { ClientFrame } from "./frame.ts";
import type { RecentResponses } from "./recent-responses.ts";
import type { Sender } from "./sender.ts";

export interface SocketResponseOptions {
  readonly frame: Extract<ClientFrame, { type: "create" }>;
  readonly owner: string;
  readonly responses: ResponsesApi;
  readonly recent: RecentResponses;
  readonly sender: Sender;
  /** How the client sees responses. */
  readonly view: ClientView;
  /** Called when the request is accepted, before it runs. */
  readonly onPrepared: (prepared: PreparedRun) => void;
  /** Those of the request that opened the connection. */
  readonly headers: TraceHeaders;
}

const terminalTypes: readonly string[] = ["response.completed", "response.incomplete", "response.failed"];

export class SocketResponse {
  readonly #options: SocketResponseOptions;
  readonly #controller = new AbortController();
  #prepared: PreparedRun | undefined;
  /** Its terminal event. */
  #terminal: string | undefined;
  #isMuted = false;
  #isCancelled = false;
  /** Whether its background run is in the store, where it can be cancelled. */
  #isQueued = false;

  constructor(options: SocketResponseOptions) {
    this.#options = options;
  }

  /** Known once the request is accepted. */
  get responseId(): string | undefined {
    return this.#prepared?.id;
  }

  get model(): string | undefined {
    return this.#prepared?.request.model;
  }

  /** Whether it only follows a background run. */
  get isFollowing(): boolean {
    return this.#prepared?.request.background ?? false;
  }

  /** Whether the client has its terminal event, and may send the next request. */
  get isOver(): boolean {
    return this.#terminal !== undefined;
  }

  /** Runs to the end. Throws what is sent to the client in place of a terminal event. */
  async run(): Promise<void> {
    const { frame, recent } = this.#options;
    const { previous_response_id: previous } = frame.body;
    try {
      await this.#run();
      const isFailed = this.#terminal === undefined || !this.#remember(this.#terminal);
      if (isFailed && typeof previous === "string" && !this.#controller.signal.aborted)
        recent.delete(previous);
    } catch (error) {
      // A response that could not be continued once is not continued again: the client has to send it whole.
      if (typeof previous === "string") recent.delete(previous);
      // It waited for its conversation, so there is no response that could say how it ended.
      if (this.#isCancelled && error === this.#controller.signal.reason) throw cancelledEarly();
      throw error;
    }
  }

  /** Aborts the run. */
  stop(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** Sends no more events of it. */
  mute(): void {
    this.#isMuted = true;
  }

  /** Cancels the run, also one in the background. One that has not begun is cancelled as it begins. */
  async cancel(): Promise<void> {
    this.#isCancelled = true;
    if (!this.#prepared || (this.isFollowing && !this.#isQueued)) return;
    await this.#cancelPrepared(this.#prepared);
  }

  async #cancelPrepared({ id }: PreparedRun): Promise<void> {
    const { responses, owner } = this.#options;
    if (this.isFollowing) await responses.cancel(owner, id);
    else this.stop(new ClientLeft("The client cancelled the response."));
  }

  async #run(): Promise<void> {
    const { frame, owner, responses, recent, headers } = this.#options;
    const { signal } = this.#controller;
    const recall = { recall: (id: string) => recent.get(id) };
    const sink = this.#sink();
    if (!frame.generates) {
      this.#prepared = await responses.prepareWarmUp(owner, frame.body, recall);
      responses.warmUp(this.#prepared, sink);
      return;
    }
    const prepared = await responses.prepare(owner, frame.body, { ...recall, headers });
    this.#prepared = prepared;
    this.#options.onPrepared(prepared);
    if (this.isFollowing) {
      await responses.enqueue(prepared);
      this.#isQueued = true;
    }
    if (this.#isCancelled) await this.#cancelPrepared(prepared);
    if (this.isFollowing) await responses.follow(owner, prepared.id, -1, sink, signal);
    else await responses.runStreamed(prepared, sink, signal);
  }

  #sink(): EventSink {
    const { sender, frame, view } = this.#options;
    const mark = frame.streamId === undefined ? "" : `,"stream_id":${JSON.stringify(frame.streamId)}`;
    const send = (type: string, json: string) => {
      if (terminalTypes.includes(type)) this.#terminal = json;
      if (this.#isMuted) return;
      sender.send(mark === "" ? json : `${json.slice(0, -1)}${mark}}`);
    };
    return view.sink(new ForwardingSink(send, sender));
  }

  /** Keeps a response that is not stored, so that it can be continued. False if it failed. */
  #remember(terminal: string): boolean {
    const { response } = JSON.parse(terminal) as { response: { status: string; output: OutputItem[] } };
    if (response.status === "failed") return false;
    const { frame, recent } = this.#options;
    const { id, request, planned } = this.#prepared as PreparedRun;
    if (request.store && frame.generates) return true;
    const isClosed = request.tool_choice === "none";
    const output = response.output.map((item): Entry => ({ item, isClosed }));
    recent.add(id, [...planned.history, ...output]);
    return true;
  }
}

function cancelledEarly(): ApiError {
  return new ApiError("The request was cancelled before its response began.", {
    status: 409,
    code: "response_cancelled",
  });
}
