// One response on a connection: from the request to its last event.

import type { Entry } from "../../engine/conversation.ts";
import type { EventSink } from "../../engine/event-sink.ts";
import { ApiError } from "../../protocol/api-error.ts";
import type { OutputItem } from "../../protocol/items.ts";
import type { PreparedRun } from "../../run/responses.ts";
import type { ResponsesApi } from "../route.ts";
import type { ClientFrame } from "./frame.ts";
import type { Memory } from "./memory.ts";
import type { Sender } from "./sender.ts";

export interface TurnOptions {
  readonly frame: Extract<ClientFrame, { type: "create" }>;
  readonly owner: string;
  readonly responses: ResponsesApi;
  readonly memory: Memory;
  readonly sender: Sender;
}

const terminal: readonly string[] = ["response.completed", "response.incomplete", "response.failed"];

export class Turn {
  readonly #options: TurnOptions;
  readonly #controller = new AbortController();
  #prepared: PreparedRun | undefined;
  /** The event that it has ended with. */
  #last: string | undefined;
  #isMuted = false;
  #isCancelled = false;
  /** Whether a run that goes on without this connection is in the store, where it can be cancelled. */
  #isQueued = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** Known once the request was accepted. */
  get responseId(): string | undefined {
    return this.#prepared?.id;
  }

  get model(): string | undefined {
    return this.#prepared?.request.model;
  }

  /** Whether it only watches a run that goes on without it. */
  get isFollowing(): boolean {
    return this.#prepared?.request.background ?? false;
  }

  /** Whether its client has been told of the end, and may ask again. */
  get isOver(): boolean {
    return this.#last !== undefined;
  }

  /** Runs to the end. Throws what the client is to be told instead of an end. */
  async run(): Promise<void> {
    const { frame, memory } = this.#options;
    const { previous_response_id: previous } = frame.body;
    try {
      await this.#run();
      const isFailed = this.#last === undefined || !this.#keep(this.#last);
      if (isFailed && typeof previous === "string" && !this.#controller.signal.aborted)
        memory.forget(previous);
    } catch (error) {
      // What could not be followed once is not to be followed again: the client has to send all of it.
      if (typeof previous === "string") memory.forget(previous);
      // It waited for its turn in a conversation, so there is no response that could say how it ended.
      if (this.#isCancelled && error === this.#controller.signal.reason) throw cancelledEarly();
      throw error;
    }
  }

  /** Says that nobody waits any more. */
  stop(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** From now on its client hears nothing of it. */
  mute(): void {
    this.#isMuted = true;
  }

  /** Ends the run, also one that would go on without this connection. One that has not begun ends as it begins. */
  async cancel(): Promise<void> {
    this.#isCancelled = true;
    if (!this.#prepared || (this.isFollowing && !this.#isQueued)) return;
    await this.#cancelPrepared(this.#prepared);
  }

  async #cancelPrepared({ id }: PreparedRun): Promise<void> {
    const { responses, owner } = this.#options;
    if (this.isFollowing) await responses.cancel(owner, id);
    else this.stop(new Error("The client has cancelled the response."));
  }

  async #run(): Promise<void> {
    const { frame, owner, responses, memory } = this.#options;
    const { signal } = this.#controller;
    const recall = { recall: (id: string) => memory.recall(id) };
    const sink = this.#sink();
    if (!frame.generates) {
      this.#prepared = await responses.prepareWarmUp(owner, frame.body, recall);
      responses.warmUp(this.#prepared, sink);
      return;
    }
    const prepared = await responses.prepare(owner, frame.body, recall);
    this.#prepared = prepared;
    if (this.isFollowing) {
      await responses.enqueue(prepared);
      this.#isQueued = true;
    }
    if (this.#isCancelled) await this.#cancelPrepared(prepared);
    if (this.isFollowing) await responses.follow(owner, prepared.id, -1, sink, signal);
    else await responses.runStreamed(prepared, sink, signal);
  }

  #sink(): EventSink {
    const { sender, frame } = this.#options;
    const mark = frame.streamId === undefined ? "" : `,"stream_id":${JSON.stringify(frame.streamId)}`;
    return {
      send: (type, json) => {
        if (terminal.includes(type)) this.#last = json;
        if (this.#isMuted) return;
        sender.send(mark === "" ? json : `${json.slice(0, -1)}${mark}}`);
      },
      get drained() {
        return sender.drained;
      },
    };
  }

  /** Keeps what was not stored, so that it can be followed. False if the response has failed. */
  #keep(last: string): boolean {
    const { response } = JSON.parse(last) as { response: { status: string; output: OutputItem[] } };
    if (response.status === "failed") return false;
    const { frame, memory } = this.#options;
    const { id, request, planned } = this.#prepared as PreparedRun;
    if (request.store && frame.generates) return true;
    const isClosed = request.tool_choice === "none";
    const output = response.output.map((item): Entry => ({ item, isClosed }));
    memory.keep(id, [...planned.history, ...output]);
    return true;
  }
}

function cancelledEarly(): ApiError {
  return new ApiError("The request was cancelled before its response had begun.", {
    status: 409,
    type: "invalid_request_error",
    code: "response_cancelled",
  });
}
