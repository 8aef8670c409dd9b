// Forwards requests for chat completions, completions and embeddings to a model server unchanged, and its answers byte
// by byte: for servers between a client and a model.

import { after } from "../async/timer.ts";
import {
  AnswerLimitError,
  BrokenStreamError,
  ModelConnectionError,
  ModelIdleTimeoutError,
  ModelTimeoutError,
} from "../error/model-errors.ts";
import { RondoError } from "../error/rondo-error.ts";
import type { ChatSetup } from "./ask-model.ts";
import { askServer } from "./ask-server.ts";
import { checkSetup, type OpenAICompatibleOptions } from "./chat-completions.ts";
import { SilenceLimit } from "./silence.ts";
import { acquireSlot } from "./slots.ts";

export interface ForwardRequest {
  /** Where it goes, below the base URL. Default: `/chat/completions`. */
  readonly path?: "/chat/completions" | "/completions" | "/embeddings" | undefined;
  /** The body as JSON text, with the model's name in it. */
  readonly body: string;
  /** Whether it requests a whole answer: silence before it is then not limited by default. Default: false. */
  readonly isWhole?: boolean | undefined;
  /** Headers that connect the request to a trace. They replace no others. Default: none. */
  readonly traceHeaders?: Readonly<Record<string, string>> | undefined;
  /** Closes the connection at once. */
  readonly signal: AbortSignal;
  /** Called once, with the head of a successful reply. */
  readonly onHead: (head: { readonly status: number; readonly contentType: string | undefined }) => void;
  /** Takes a piece of the answer. Until the returned promise settles, reading is paused. */
  readonly onBytes: (bytes: Uint8Array) => Promise<void> | undefined;
}

export interface ChatForwarder {
  /** The model's name, as its server knows it. */
  readonly model: string;
  /** Where it is, for messages. */
  readonly endpoint: string;
  /**
   * Forwards one request. Resolves at the end of the answer. Rejects with a `ModelError` or a `TimeoutError` when the
   * request fails or the answer breaks off, and with the signal's reason when it is aborted.
   */
  forward(request: ForwardRequest): Promise<void>;
}

/**
 * Forwards requests to the endpoint of `openaiCompatible(options)`, with its key, its time limits and its limit of
 * requests in flight. Nothing is retried: that is for the client to decide.
 */
export function chatForwarder(options: OpenAICompatibleOptions): ChatForwarder {
  const setup = checkSetup(options);
  return {
    model: setup.model,
    endpoint: setup.endpoint.label,
    forward: (request) => forward(setup, request),
  };
}

async function forward(setup: ChatSetup, request: ForwardRequest): Promise<void> {
  const { endpoint, maxConcurrency, timeoutMs, idleTimeoutMs } = setup;
  const { label } = endpoint;
  const release = await acquireSlot({ endpoint: label, limit: maxConcurrency, signal: request.signal });
  const limits = new AbortController();
  const silence = new SilenceLimit(idleTimeoutMs, () =>
    limits.abort(new ModelIdleTimeoutError(label, idleTimeoutMs, "")),
  );
  const cancelTimeout = after(timeoutMs, () => limits.abort(new ModelTimeoutError(label, timeoutMs, "")));
  try {
    await exchange(setup, { ...request, signal: AbortSignal.any([request.signal, limits.signal]) }, silence);
  } finally {
    cancelTimeout();
    silence.stop();
    release();
  }
}

async function exchange(
  { endpoint, model, send, mayAskWhole, limits }: ChatSetup,
  { path = "/chat/completions", body, isWhole, traceHeaders, signal, onHead, onBytes }: ForwardRequest,
  silence: SilenceLimit,
): Promise<void> {
  const max = limits.maxAnswerBytes;
  let hasBegun = false;
  let size = 0;
  if (!(isWhole && mayAskWhole)) silence.hear();
  try {
    const response = await askServer({ endpoint, path, body: [body], model, traceHeaders, send, signal });
    hasBegun = true;
    onHead({ status: response.status, contentType: response.header("content-type") });
    await response.read((bytes) => {
      silence.hear();
      size += bytes.length;
      if (size > max)
        throw new AnswerLimitError(endpoint.label, { limit: "maxAnswerBytes", max, partialText: "" });
      const room = onBytes(new Uint8Array(bytes));
      if (room) {
        silence.pause();
        response.pause();
        void room.finally(() => {
          silence.resume();
          response.resume();
        });
      }
      return false;
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof RondoError) throw error;
    throw hasBegun
      ? new BrokenStreamError(endpoint.label, "", error)
      : new ModelConnectionError(endpoint.label, error);
  }
}
