// One WebSocket connection: its frames, one response at a time, liveness checks and its end.

import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import { ApiError } from "../../protocol/api-error.ts";
import { errorBody, stopping, toApiError } from "../errors.ts";
import { ClientLeft, type Exchange } from "../exchange.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { OwnerLimits, RequestSlot } from "../owner-limits.ts";
import type { AuditedRequest, RequestAudit } from "../request-audit.ts";
import type { ResponsesApi } from "../route.ts";
import { type RequiresActionStatus, viewFor } from "../shown-status.ts";
import { traceHeadersOf } from "../trace-headers.ts";
import { type ClientFrame, readFrame } from "./frame.ts";
import { FrameRate } from "./frame-rate.ts";
import { type OwnerBytes, RecentResponses, type RecentResponsesLimits } from "./recent-responses.ts";
import { Sender } from "./sender.ts";
import { SocketResponse } from "./socket-response.ts";
import { UnfinishedMessage } from "./unfinished-message.ts";

export interface ConnectionSettings {
  readonly responses: ResponsesApi;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** How often the client is pinged. */
  readonly keepAliveMs: number;
  /** How long a client may leave pings unanswered, or stop reading, before it is disconnected. */
  readonly stallMs: number;
  /** How long a message may take to arrive. */
  readonly requestMs: number;
  /** How many messages a client may send per minute. */
  readonly messagesPerMinute: number;
  /** How many pings and pongs a client may send per minute. */
  readonly pingsPerMinute: number;
  /** How long a connection may stay open. */
  readonly lifeMs: number;
  readonly recent: RecentResponsesLimits;
  /** Limits of what an owner may have in flight. */
  readonly ownerLimits: OwnerLimits;
  /** Which clients see the status `requires_action`. */
  readonly requiresActionStatus: RequiresActionStatus;
  /** The audit log. Default: none. */
  readonly audit?: RequestAudit | undefined;
}

export interface ConnectionOptions extends ConnectionSettings {
  readonly socket: WebSocket;
  /** The stream below the socket. */
  readonly stream: Duplex;
  readonly owner: string;
  /** The bytes that all connections of the owner keep. */
  readonly ownerBytes: OwnerBytes;
  /** When the token that opened it expires. Undefined for never. */
  readonly expiresAtMs: number | undefined;
  /** The request that opened it. */
  readonly exchange: Exchange;
}

// Not the client's fault: it should reconnect.
const goingAway = 1001;
// The client broke a rule.
const policyViolation = 1008;

// How long a client may take to confirm that the connection is closed.
const closeTimeoutMs = 1000;

type CreateFrame = Extract<ClientFrame, { type: "create" }>;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #sender: Sender;
  readonly #recent: RecentResponses;
  readonly #timers: NodeJS.Timeout[];
  readonly #messages: FrameRate;
  readonly #pings: FrameRate;
  readonly #unfinished: UnfinishedMessage;
  #response: SocketResponse | undefined;
  /** Resolves when the last response is settled. */
  #settled: Promise<void> = Promise.resolve();
  /** Whether a request waits for it. */
  #isNextWaiting = false;
  #isDraining = false;
  #lastFrameAtMs = performance.now();
  #closeTimer: NodeJS.Timeout | undefined;

  constructor(options: ConnectionOptions) {
    const { socket, stream, keepAliveMs, lifeMs, expiresAtMs = Infinity } = options;
    this.#options = options;
    this.#messages = new FrameRate(options.messagesPerMinute, this.#lastFrameAtMs);
    this.#pings = new FrameRate(options.pingsPerMinute, this.#lastFrameAtMs);
    this.#unfinished = new UnfinishedMessage(options.ownerLimits.meter(options.owner));
    this.#sender = new Sender(socket, stream);
    this.#recent = new RecentResponses(options.recent, options.ownerBytes);
    const validMs = expiresAtMs - Date.now();
    const isTokenFirst = validMs < lifeMs;
    this.#timers = [
      setInterval(this.#checkLiveness, keepAliveMs),
      setTimeout(isTokenFirst ? this.#expireToken : this.#expire, isTokenFirst ? validMs : lifeMs),
    ];
    // Before the socket's own listener, which reads messages at once.
    stream.prependListener("data", this.#countBytes);
    socket.on("message", this.#receive);
    socket.on("ping", this.#receivePing);
    socket.on("pong", this.#receivePong);
    socket.once("close", this.#onClose);
    // For a frame that is invalid or too large the socket closes itself.
    socket.on("error", () => {});
  }

  /** Accepts no new requests, and closes when the current one ends. */
  drain(): void {
    this.#isDraining = true;
    if (!this.#response && !this.#isNextWaiting) this.#close("The server is stopping.");
  }

  /** Aborts the current request, or only if it follows a background run. */
  stop(reason: Error, { onlyFollowing = false } = {}): void {
    if (this.#response && (this.#response.isFollowing || !onlyFollowing)) {
      if (this.#response.isFollowing) this.#sendError(stopping());
      this.#response.stop(reason);
    }
  }

  /** Terminates the connection. */
  cut(): void {
    this.#options.socket.terminate();
  }

  /** Disconnects a client that is gone or does not read, and pings others. */
  readonly #checkLiveness = (): void => {
    const { socket, stallMs, keepAliveMs, requestMs } = this.#options;
    const patienceMs = Math.max(stallMs, 2 * keepAliveMs);
    const { stalledMs } = this.#sender;
    // A client with unread data is not pinged, and one that we do not read cannot answer.
    if (stalledMs > 0 || socket.isPaused) this.#lastFrameAtMs = performance.now();
    if (Math.max(stalledMs, performance.now() - this.#lastFrameAtMs) > patienceMs) {
      // First, or it would run without a reader until the socket is closed.
      this.#response?.stop(new ClientLeft("The client stopped reading."));
      socket.terminate();
    } else if (!socket.isPaused && this.#unfinished.ageMs(performance.now()) > requestMs) {
      this.#refuse(`A message took longer than ${describeMs(requestMs)} to arrive (limits.requestMs).`);
    } else this.#sender.ping();
  };

  readonly #countBytes = (chunk: Buffer): void => {
    if (!this.#isOpen) return;
    try {
      this.#unfinished.add(chunk.length, performance.now());
    } catch {
      this.#refuse("One owner has too much in flight (limits.bodyBytesPerOwner).");
      this.#options.stream.pause(); // until it is cut
    }
  };

  readonly #receive = (data: RawData): void => {
    this.#unfinished.end();
    if (!this.#count(this.#messages, "messages", "messagesPerMinute")) return;
    try {
      const bytes = toBuffer(data);
      this.#handle(readFrame(bytes), bytes.length);
    } catch (error) {
      this.#sendError(error);
    }
    this.#applyBackpressure();
  };

  readonly #receivePing = (payload: Buffer): void => {
    this.#unfinished.leaveOut(payload.length);
    if (!this.#count(this.#pings, "pings", "pingsPerMinute")) return;
    this.#sender.pong(payload);
    this.#applyBackpressure();
  };

  readonly #receivePong = (payload: Buffer): void => {
    this.#unfinished.leaveOut(payload.length);
    this.#count(this.#pings, "pongs", "pingsPerMinute");
  };

  /** Counts a frame. False if there were too many: the connection is closed. */
  #count(rate: FrameRate, what: string, setting: "messagesPerMinute" | "pingsPerMinute"): boolean {
    if (!this.#isOpen) return false;
    this.#lastFrameAtMs = performance.now();
    if (rate.take(this.#lastFrameAtMs)) return true;
    this.#refuse(`More than ${this.#options[setting]} ${what} in a minute (webSocket.${setting}).`);
    return false;
  }

  /** Aborts the current request and closes: the client broke a rule. */
  #refuse(why: string): void {
    this.#response?.stop(new ClientLeft(why));
    this.#close(why, policyViolation);
  }

  #handle(frame: ClientFrame, bytes: number): void {
    switch (frame.type) {
      case "create":
        // Timers may be late after the machine slept.
        if (Date.now() >= (this.#options.expiresAtMs ?? Infinity)) this.#expireToken();
        else if (this.#isDraining) this.#sendError(stopping(), frame.streamId);
        else if (this.#isNextWaiting || (this.#response && !this.#response.isOver))
          this.#sendError(busy(), frame.streamId);
        else this.#admit(frame, bytes);
        return;
      case "cancel": {
        const current = this.#response;
        const { responseId } = frame;
        const isMatch = responseId === undefined || current?.responseId === responseId;
        if (!current || current.isOver || !isMatch) throw nothingToCancel(responseId);
        void this.#cancel(current);
        return;
      }
      default:
    }
  }

  async #cancel(response: SocketResponse): Promise<void> {
    const { audit, exchange } = this.#options;
    const { responseId = "" } = response;
    const audited = audit?.begin(exchange, { responseId }, "cancellation");
    try {
      if (audited) await audited.written;
      await response.cancel();
      audited?.ended({ outcome: "ok", responseId });
    } catch (error) {
      audited?.ended({ outcome: "error", responseId });
      this.#sendError(error);
    }
  }

  /** Starts a request, if its owner may have one more. */
  #admit(frame: CreateFrame, bytes: number): void {
    const { owner, ownerLimits } = this.#options;
    let slot: RequestSlot | undefined;
    try {
      slot = ownerLimits.enter(owner);
      slot.addBytes(bytes);
      void this.#begin(frame, slot);
    } catch (error) {
      slot?.release();
      this.#sendError(error, frame.streamId);
    }
  }

  /** Runs a request. The one before it may have sent its terminal event, but not be settled yet. */
  async #begin(frame: CreateFrame, slot: RequestSlot): Promise<void> {
    const { owner, responses, metrics, exchange, requiresActionStatus, audit } = this.#options;
    let audited: AuditedRequest | undefined;
    const response = new SocketResponse({
      frame,
      owner,
      responses,
      view: viewFor(exchange.incoming.headers, requiresActionStatus),
      headers: traceHeadersOf(exchange.incoming),
      recent: this.#recent,
      sender: this.#sender,
      onPrepared: (prepared) => audited?.created(prepared),
    });
    const before = this.#settled;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled = promise;
    this.#isNextWaiting = this.#response !== undefined;
    if (!this.#isNextWaiting) this.#response = response;
    await before;
    this.#isNextWaiting = false;
    this.#response = response;
    const startedAtMs = performance.now();
    metrics.streamOpened();
    let outcome = "ok";
    try {
      if (!this.#isOpen) return;
      audited = audit?.begin(exchange, {}, "message");
      if (audited) await audited.written;
      await response.run();
    } catch (error) {
      outcome = "error";
      if (this.#isOpen) this.#sendError(error, frame.streamId);
    } finally {
      metrics.streamClosed();
      const { responseId, model } = response;
      audited?.ended({ outcome, responseId, model });
      this.#log(response, startedAtMs);
      this.#response = undefined;
      slot.release();
      resolve();
      if (this.#isDraining) this.#close("The server is stopping.");
    }
  }

  /** Stops reading a client that sends frames faster than it reads the replies. */
  #applyBackpressure(): void {
    const { socket } = this.#options;
    const { drained } = this.#sender;
    if (!drained || socket.isPaused) return;
    socket.pause();
    void drained.then(() => socket.resume());
  }

  #sendError(error: unknown, streamId?: string): void {
    const { exchange, logger } = this.#options;
    const problem = toApiError(error, exchange, logger);
    const mark = streamId === undefined ? {} : { stream_id: streamId };
    this.#sender.send(
      JSON.stringify({ type: "error", status: problem.status, ...errorBody(problem), ...mark }),
    );
  }

  readonly #expire = (): void => {
    const { lifeMs } = this.#options;
    const problem = new ApiError(
      `This connection has reached the server's limit of ${describeMs(lifeMs)} (webSocket.lifeMs). Open a new one to go on.`,
      { status: 400, code: "websocket_connection_limit_reached" },
    );
    this.#end(problem, "The connection has reached its limit.", goingAway);
  };

  readonly #expireToken = (): void => {
    this.#end(tokenExpired(), "The token of this connection has expired.", policyViolation);
  };

  /** Aborts the current request, sends the reason, and closes. */
  #end(problem: ApiError, why: string, code: number): void {
    this.#isDraining = true;
    this.#response?.mute();
    this.#sendError(problem);
    this.#response?.stop(new ClientLeft(why));
    this.#close(why, code);
  }

  get #isOpen(): boolean {
    const { socket } = this.#options;
    return socket.readyState === socket.OPEN;
  }

  #close(why: string, code = goingAway): void {
    if (!this.#isOpen) return;
    const { socket } = this.#options;
    socket.resume();
    socket.close(code, why);
    this.#closeTimer ??= setTimeout(() => socket.terminate(), closeTimeoutMs);
  }

  readonly #onClose = (): void => {
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#closeTimer);
    this.#response?.stop(new ClientLeft("The client is gone."));
    this.#recent.close();
    this.#unfinished.close();
  };

  #log(response: SocketResponse, startedAtMs: number): void {
    const { logger, exchange, owner } = this.#options;
    const { responseId, model } = response;
    const ms = Math.round((performance.now() - startedAtMs) * 10) / 10;
    logger.info("websocket request", { requestId: exchange.id, owner, responseId, model, ms });
  }
}

function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

function busy(): ApiError {
  return new ApiError(
    "A response is already being made on this connection. Wait for its end, cancel it, or open another connection.",
    { status: 409, code: "response_in_progress" },
  );
}

function tokenExpired(): ApiError {
  return new ApiError("The token that opened this connection has expired. Open a new one with a new token.", {
    status: 401,
    code: "token_expired",
  });
}

function nothingToCancel(id: string | undefined): ApiError {
  const what = id === undefined ? "No response" : `No response with the id ${JSON.stringify(id)}`;
  return new ApiError(`${what} is being made on this connection, so there is nothing to cancel.`, {
    status: 404,
    code: "response_not_found",
    param: "response_id",
  });
}

function describeMs(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000} minutes` : `${ms / 1000} seconds`;
}
