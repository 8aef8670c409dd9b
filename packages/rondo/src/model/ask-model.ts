// One streamed request to a model: waits for a slot, sends it, retries where that is safe, reads the answer as fast
// as the consumer does, and stops at a time limit.

import { after } from "../async/timer.ts";
import { ContextLengthError } from "../error/context-length-error.ts";
import {
  BrokenStreamError,
  ModelConnectionError,
  ModelIdleTimeoutError,
  ModelTimeoutError,
} from "../error/model-errors.ts";
import { ModelHttpError } from "../error/model-http-errors.ts";
import { RondoError } from "../error/rondo-error.ts";
import type { AnswerTrace } from "../trace/answer-trace.ts";
import type { AnswerLimits } from "./answer-limits.ts";
import { askServer } from "./ask-server.ts";
import { type AnswerReader, ChatAnswer } from "./chat-answer.ts";
import { ChatStreamReader } from "./chat-stream-reader.ts";
import type { DeltaSink } from "./delta-stream.ts";
import type { Endpoint } from "./endpoint.ts";
import type { HttpResponse, HttpSend } from "./http/http.ts";
import type { LearnedProfile } from "./learning/learned-profile.ts";
import type { RequestBody } from "./request-body.ts";
import { type RetryNotice, type RetryPolicy, withRetry } from "./retry.ts";
import { SecretFilter } from "./secret-filter.ts";
import { SilenceLimit } from "./silence.ts";
import { acquireSlot } from "./slots.ts";

/** What stays the same for all requests to a model. */
export interface ChatSetup {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly learned: LearnedProfile;
  readonly send: HttpSend;
  readonly maxConcurrency: number;
  readonly retry: RetryPolicy;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly limits: AnswerLimits;
  /** Whether an answer may be requested whole, if no consumer needs a stream. */
  readonly mayAskWhole: boolean;
  /** The resource that is asked. Default: `/chat/completions`. */
  readonly path?: string;
  /** What reads an answer. Default: a reader of chat completions. */
  readonly createReader?: () => AnswerReader;
}

/** The body of an attempt. It may depend on what the server is, which is then found out first. */
export type BodyFor = (signal: AbortSignal) => RequestBody | Promise<RequestBody>;

/** Asks once, and pushes what comes into the sink. Rejects with a typed error, or with the sink's abort reason. */
export async function askModel(
  setup: ChatSetup,
  bodyFor: BodyFor,
  sink: DeltaSink,
  trace: AnswerTrace | undefined,
): Promise<void> {
  const { timeoutMs, idleTimeoutMs, maxConcurrency, retry, limits } = setup;
  const { signal } = sink;
  const endpoint = setup.endpoint.label;
  let hasWaited = false;
  const onWait =
    trace &&
    (() => {
      hasWaited = true;
      trace.emit({ type: "slot.awaited", answer: 0 });
    });
  const slot = acquireSlot({ endpoint, limit: maxConcurrency, signal, onWait });
  const release = slot instanceof Promise ? await slot : slot;
  if (hasWaited) trace?.emit({ type: "slot.taken", answer: 0 });
  let toolNames: readonly string[] = [];
  const answer = new ChatAnswer({
    endpoint,
    hideSecrets: (text) => setup.endpoint.hideSecrets(text),
    createReader: () =>
      setup.createReader?.() ??
      new ChatStreamReader({
        profile: setup.learned.current,
        toolNames,
        maxCalls: limits.maxCallsPerAnswer,
        isTraced: trace !== undefined,
      }),
    limits,
    push: sink.push,
    onToken: trace && (() => trace.started()),
  });
  const stop = (TimeoutError: typeof ModelTimeoutError | typeof ModelIdleTimeoutError, limitMs: number) => {
    answer.cutOff();
    sink.stop(new TimeoutError(endpoint, limitMs, answer.text));
  };
  const silence = new SilenceLimit(idleTimeoutMs, () => stop(ModelIdleTimeoutError, idleTimeoutMs));
  const cancelTimeout = after(timeoutMs, () => stop(ModelTimeoutError, timeoutMs));
  try {
    const send = (body: RequestBody) => {
      toolNames = body.toolNames;
      return attempt(setup, body, { sink, answer, silence, trace });
    };
    const ask = () => {
      const body = bodyFor(signal);
      return body instanceof Promise ? body.then(send) : send(body);
    };
    await withRetry(ask, {
      policy: retry,
      signal,
      isSafe: () => !answer.hasBegun,
      onRetry: (notice) => {
        trace?.retried(notice.error, notice.waitMs);
        sink.push({ type: "warning", message: wordRetry(notice, endpoint, retry) });
      },
    });
  } finally {
    cancelTimeout();
    silence.stop();
    release();
  }
}

interface Attempt {
  readonly sink: DeltaSink;
  readonly answer: ChatAnswer;
  readonly silence: SilenceLimit;
  readonly trace: AnswerTrace | undefined;
}

async function attempt(
  { endpoint, model, send, learned, createReader, path = "/chat/completions" }: ChatSetup,
  { parts: body, isWhole }: RequestBody,
  { sink, answer, silence, trace }: Attempt,
): Promise<void> {
  const { signal } = sink;
  // Silence before a whole answer means nothing: it may take as long as the whole stream would.
  if (!isWhole) silence.hear();
  // Beside the request: it is known long before the model has written its first token.
  const learning = !createReader && learned.isNeededToRead ? learned.learn({ signal }) : undefined;
  const chunks = trace?.wantsChunks ? trace.chunkTaker(new SecretFilter(endpoint.secrets)) : undefined;
  try {
    const traceHeaders = trace?.sent(endpoint.label + path, body, !isWhole);
    const asked = { endpoint, path, body, model, traceHeaders, send, signal };
    const response = await (trace ? trace.sendWithin(() => askServer(asked)) : askServer(asked));
    trace?.emit({ type: "model.accepted", answer: 0, status: response.status });
    learned.noteHeader(response.header("server"));
    if (learning && learned.isNeededToRead) await learning;
    await readAnswer(response, { sink, answer, silence }, chunks?.take);
    answer.end();
  } catch (error) {
    if (error instanceof ContextLengthError) learned.noteWindow(error.contextWindow);
    if (error instanceof ModelConnectionError) learned.forget();
    if (signal.aborted || error instanceof RondoError) throw error;
    learned.forget();
    if (!answer.hasBegun) throw new ModelConnectionError(endpoint.label, error);
    answer.cutOff();
    throw new BrokenStreamError(endpoint.label, answer.text, error);
  } finally {
    chunks?.end();
    silence.stop(); // the delay between attempts is our own
  }
}

function readAnswer(
  response: HttpResponse,
  { sink, answer, silence }: Omit<Attempt, "trace">,
  takeChunk: ((bytes: Uint8Array) => void) | undefined,
): Promise<void> {
  let isPaused = false;
  // Not assigned directly: V8 then keeps the function, and with it the whole answer, until the next full garbage
  // collection.
  const onDrained = () => {
    if (!isPaused) return;
    isPaused = false;
    silence.resume();
    response.resume();
  };
  sink.onDrained = onDrained;
  return response.read((bytes) => {
    // A timer for nothing would cost as much as reading a short answer.
    if (!response.isComplete) silence.hear();
    if (takeChunk) takeChunk(bytes);
    const isComplete = answer.read(bytes);
    if (!isComplete && sink.isFull()) {
      isPaused = true;
      silence.pause();
      response.pause();
    }
    return isComplete;
  });
}

function wordRetry(
  { error, attempt, waitMs }: RetryNotice,
  endpoint: string,
  { attempts }: RetryPolicy,
): string {
  const what =
    error instanceof ModelHttpError
      ? `answered with status ${error.status}${error.said === "" ? "" : ` (${error.said})`}`
      : `did not answer${error instanceof ModelConnectionError && error.reason ? ` (${error.reason})` : ""}`;
  const which = attempt <= attempts ? `attempt ${attempt} of ${attempts}` : `attempt ${attempt}`;
  return `The model server at ${endpoint} ${what}: asking again in ${waitMs} ms (${which}).`;
}
