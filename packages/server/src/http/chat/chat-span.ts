// The span of a chat completion that no run belongs to. What is passed through is not read, so that it has times, sizes and
// the outcome, but neither tokens nor what was said.

import type { TraceEvent, Tracer } from "rondo";
import { toApiError } from "../../engine/failure.ts";

export interface ChatRequestFacts {
  readonly model: string;
  /** Where the model is; its name for one without a server. */
  readonly endpoint: string;
  /** The body of the request. */
  readonly body: unknown;
}

/** An event of this chat, without what is the same in all of them. */
type ChatEvent<Type extends TraceEvent["type"]> = Omit<
  Extract<TraceEvent, { type: Type; answer: number }>,
  "type" | "atMs" | "answer"
>;

export class ChatSpan {
  /** For a model that records what happens to its requests. */
  readonly tracer: Tracer;
  #hasStarted = false;
  #isOver = false;

  constructor(tracer: Tracer, { model, endpoint, body }: ChatRequestFacts) {
    this.tracer = tracer;
    const { messages, tools } = Object(body) as { messages?: unknown; tools?: unknown };
    this.#record("model.asked", { model, endpoint, messages: countOf(messages), tools: countOf(tools) });
  }

  /** The request goes out. Gives the headers that make the model server's spans children of this one. */
  sent(url: string, body: string, isStream: boolean): Readonly<Record<string, string>> {
    const bytes = Buffer.byteLength(body);
    this.#record("request.sent", { attempt: 1, url, bytes, isStream, body: () => body });
    return this.tracer.headers?.({ answer: 0 }) ?? {};
  }

  accepted(status: number): void {
    this.#record("model.accepted", { status });
  }

  /** The first bytes came. Only the first call counts. */
  started(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#record("model.started", {});
  }

  finished(answer: ChatEvent<"model.finished"> = { finishReason: "unknown" }): void {
    this.#isOver = true;
    this.#record("model.finished", answer);
  }

  /** It broke off, with an error or because the client left. It has no effect on a chat that is over. */
  failed(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { code, message } = toApiError(error, undefined);
    const left = { type: "aborted", message: "The client left." };
    this.#record("model.failed", {
      error: error === undefined ? left : { type: code ?? "server_error", message },
    });
  }

  #record<Type extends TraceEvent["type"]>(type: Type, event: ChatEvent<Type>): void {
    const atMs = performance.timeOrigin + performance.now(); // as models do that record their requests
    this.tracer.record({ type, atMs, answer: 0, ...event } as unknown as TraceEvent);
  }
}

function countOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}
