// One WebSocket connection: its frames, its one response at a time, its signs of life and its end.

import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import { ApiError } from "../../protocol/api-error.ts";
import { errorBody, stopping, toApiError } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { OwnerLimits, RequestSlot } from "../owner-limits.ts";
import type { ResponsesApi } from "../route.ts";
import { type ClientFrame, readFrame } from "./frame.ts";
import { FrameRate } from "./frame-rate.ts";
import { Memory, type MemoryLimits, type SharedMemory } from "./memory.ts";
import { Sender } from "./sender.ts";
import { Turn } from "./turn.ts";
import { UnfinishedMessage } from "./unfinished-message.ts";

export interface ConnectionSettings {
  readonly responses: ResponsesApi;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** How often the client is asked whether it is still there. */
  readonly keepAliveMs: number;
  /** How long a client may be silent when it is asked, or read nothing of what waits for it. */
  readonly stallMs: number;
  /** How long a message may take to come. */
  readonly requestMs: number;
  /** How many messages a client may send in a minute. */
  readonly messagesPerMinute: number;
  /** How many pings and pongs a client may send in a minute. */
  readonly pingsPerMinute: number;
  /** How long a connection may live. */
  readonly lifeMs: number;
  readonly kept: MemoryLimits;
  /** What the owner of a connection may have under way. */
  readonly ownerLimits: OwnerLimits;
}

export interface ConnectionOptions extends ConnectionSettings {
  readonly socket: WebSocket;
  /** What the socket reads and writes. */
  readonly stream: Duplex;
  readonly owner: string;
  /** What all connections of the owner keep. */
  readonly shared: SharedMemory;
  /** When the token expires that has opened it. Undefined for never. */
  readonly expiresAtMs: number | undefined;
  /** The request that has opened it. */
  readonly exchange: Exchange;
}

// The client is to come back: it is not its fault.
const goingAway = 1001;
// The client has done what it may not.
const policyViolation = 1008;

// How long a client gets to answer that a connection is closed.
const lastWordsMs = 1000;

type CreateFrame = Extract<ClientFrame, { type: "create" }>;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #sender: Sender;
  readonly #memory: Memory;
  readonly #timers: NodeJS.Timeout[];
  readonly #messages: FrameRate;
  readonly #pings: FrameRate;
  readonly #unfinished: UnfinishedMessage;
  #turn: Turn | undefined;
  /** Resolves when the last response has been dealt with. */
  #settled: Promise<void> = Promise.resolve();
  /** Whether a request waits for that. */
  #isNextWaiting = false;
  #isLeaving = false;
  #heardAtMs = performance.now();
  #leaving: NodeJS.Timeout | undefined;

  constructor(options: ConnectionOptions) {
    const { socket, stream, keepAliveMs, lifeMs, expiresAtMs = Infinity } = options;
    this.#options = options;
    this.#messages = new FrameRate(options.messagesPerMinute, this.#heardAtMs);
    this.#pings = new FrameRate(options.pingsPerMinute, this.#heardAtMs);
    this.#unfinished = new UnfinishedMessage(options.ownerLimits.meter(options.owner));
    this.#sender = new Sender(socket, stream);
    this.#memory = new Memory(options.kept, options.shared);
    const validMs = expiresAtMs - Date.now();
    const isTokenFirst = validMs < lifeMs;
    this.#timers = [
      setInterval(this.#look, keepAliveMs),
      setTimeout(isTokenFirst ? this.#expireToken : this.#expire, isTokenFirst ? validMs : lifeMs),
    ];
    // Before the socket, which reads messages out of it at once.
    stream.prependListener("data", this.#countBytes);
    socket.on("message", this.#receive);
    socket.on("ping", this.#receivePing);
    socket.on("pong", this.#receivePong);
    socket.once("close", this.#ended);
    // A frame that breaks the protocol or is too large; the socket closes itself.
    socket.on("error", () => {});
  }

  /** Takes no new requests, and closes when the one that runs has ended. */
  drain(): void {
    this.#isLeaving = true;
    if (!this.#turn && !this.#isNextWaiting) this.#leave("The server is stopping.");
  }

  /** Ends what runs, or only what goes on without it. */
  stop(reason: Error, { onlyFollowing = false } = {}): void {
    if (this.#turn && (this.#turn.isFollowing || !onlyFollowing)) {
      if (this.#turn.isFollowing) this.#tell(stopping());
      this.#turn.stop(reason);
    }
  }

  /** Cuts the connection. */
  cut(): void {
    this.#options.socket.terminate();
  }

  /** Cuts a client that has gone or does not read, and asks others for a sign of life. */
  readonly #look = (): void => {
    const { socket, stallMs, keepAliveMs, requestMs } = this.#options;
    const patienceMs = Math.max(stallMs, 2 * keepAliveMs);
    const { stalledMs } = this.#sender;
    // One that has something to read yet is not asked, and one that is not read cannot answer.
    if (stalledMs > 0 || socket.isPaused) this.#heardAtMs = performance.now();
    if (Math.max(stalledMs, performance.now() - this.#heardAtMs) > patienceMs) {
      // First, or it would go on without a reader until the socket is closed.
      this.#turn?.stop(new Error("The client has stopped to read."));
      socket.terminate();
    } else if (!socket.isPaused && this.#unfinished.ageMs(performance.now()) > requestMs) {
      this.#refuse(`A message took longer than ${describeMs(requestMs)} to come (limits.requestMs).`);
    } else this.#sender.ping();
  };

  readonly #countBytes = (chunk: Buffer): void => {
    if (!this.#isOpen) return;
    try {
      this.#unfinished.add(chunk.length, performance.now());
    } catch {
      this.#refuse("Too much at once of one owner (limits.bodyBytesPerOwner).");
      this.#options.stream.pause(); // until it is cut
    }
  };

  readonly #receive = (data: RawData): void => {
    this.#unfinished.end();
    if (!this.#count(this.#messages, "messages", "messagesPerMinute")) return;
    try {
      const bytes = toBuffer(data);
      this.#take(readFrame(bytes), bytes.length);
    } catch (error) {
      this.#tellOf(error);
    }
    this.#holdBack();
  };

  readonly #receivePing = (payload: Buffer): void => {
    this.#unfinished.leaveOut(payload.length);
    if (!this.#count(this.#pings, "pings", "pingsPerMinute")) return;
    this.#sender.pong(payload);
    this.#holdBack();
  };

  readonly #receivePong = (payload: Buffer): void => {
    this.#unfinished.leaveOut(payload.length);
    this.#count(this.#pings, "pongs", "pingsPerMinute");
  };

  /** Notes a sign of life. False if there were too many: the connection is closed. */
  #count(rate: FrameRate, what: string, setting: "messagesPerMinute" | "pingsPerMinute"): boolean {
    if (!this.#isOpen) return false;
    this.#heardAtMs = performance.now();
    if (rate.take(this.#heardAtMs)) return true;
    this.#refuse(`More than ${this.#options[setting]} ${what} in a minute (webSocket.${setting}).`);
    return false;
  }

  /** Ends what runs, and closes: the client has done what it may not. */
  #refuse(why: string): void {
    this.#turn?.stop(new Error(why));
    this.#leave(why, policyViolation);
  }

  #take(frame: ClientFrame, bytes: number): void {
    switch (frame.type) {
      case "create":
        // Timers may be late: the clock of a machine that slept goes on.
        if (Date.now() >= (this.#options.expiresAtMs ?? Infinity)) this.#expireToken();
        else if (this.#isLeaving) this.#tell(stopping(), frame.streamId);
        else if (this.#isNextWaiting || (this.#turn && !this.#turn.isOver))
          this.#tell(busy(), frame.streamId);
        else this.#admit(frame, bytes);
        return;
      case "cancel": {
        const turn = this.#turn;
        const { responseId } = frame;
        const isMeant = responseId === undefined || turn?.responseId === responseId;
        if (!turn || turn.isOver || !isMeant) throw nothingToCancel(responseId);
        turn.cancel().catch((error: unknown) => this.#tellOf(error));
        return;
      }
      default:
    }
  }

  /** Begins a request, if its owner may have one more. */
  #admit(frame: CreateFrame, bytes: number): void {
    const { owner, ownerLimits } = this.#options;
    let slot: RequestSlot | undefined;
    try {
      slot = ownerLimits.enter(owner);
      slot.addBytes(bytes);
      void this.#begin(frame, slot);
    } catch (error) {
      slot?.release();
      this.#tellOf(error, frame.streamId);
    }
  }

  /** Answers a request. The one before it may have its last words behind it, but not be dealt with yet. */
  async #begin(frame: CreateFrame, slot: RequestSlot): Promise<void> {
    const { owner, responses, metrics } = this.#options;
    const turn = new Turn({ frame, owner, responses, memory: this.#memory, sender: this.#sender });
    const before = this.#settled;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#settled = promise;
    this.#isNextWaiting = this.#turn !== undefined;
    if (!this.#isNextWaiting) this.#turn = turn;
    await before;
    this.#isNextWaiting = false;
    this.#turn = turn;
    const startedAtMs = performance.now();
    metrics.streamOpened();
    try {
      if (!this.#isOpen) return;
      await turn.run();
    } catch (error) {
      if (this.#isOpen) this.#tellOf(error, frame.streamId);
    } finally {
      metrics.streamClosed();
      this.#log(turn, startedAtMs);
      this.#turn = undefined;
      slot.release();
      resolve();
      if (this.#isLeaving) this.#leave("The server is stopping.");
    }
  }

  /** A client that sends frames faster than it reads their answers is not read for a while. */
  #holdBack(): void {
    const { socket } = this.#options;
    const { drained } = this.#sender;
    if (!drained || socket.isPaused) return;
    socket.pause();
    void drained.then(() => socket.resume());
  }

  #tellOf(error: unknown, streamId?: string): void {
    const { exchange, logger } = this.#options;
    this.#tell(toApiError(error, exchange, logger), streamId);
  }

  #tell(problem: ApiError, streamId?: string): void {
    const mark = streamId === undefined ? {} : { stream_id: streamId };
    this.#sender.send(
      JSON.stringify({ type: "error", status: problem.status, ...errorBody(problem), ...mark }),
    );
  }

  readonly #expire = (): void => {
    const { lifeMs } = this.#options;
    const problem = new ApiError(
      `This connection has reached the server's limit of ${describeMs(lifeMs)} (webSocket.lifeMs). Open a new one to go on.`,
      { status: 400, type: "invalid_request_error", code: "websocket_connection_limit_reached" },
    );
    this.#end(problem, "The connection has reached its limit.", goingAway);
  };

  readonly #expireToken = (): void => {
    this.#end(tokenExpired(), "The token of this connection has expired.", policyViolation);
  };

  /** Ends what runs, tells why, and closes. */
  #end(problem: ApiError, why: string, code: number): void {
    this.#isLeaving = true;
    this.#turn?.mute();
    this.#tell(problem);
    this.#turn?.stop(new Error(why));
    this.#leave(why, code);
  }

  get #isOpen(): boolean {
    const { socket } = this.#options;
    return socket.readyState === socket.OPEN;
  }

  #leave(why: string, code = goingAway): void {
    if (!this.#isOpen) return;
    const { socket } = this.#options;
    socket.resume();
    socket.close(code, why);
    this.#leaving ??= setTimeout(() => socket.terminate(), lastWordsMs);
  }

  readonly #ended = (): void => {
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#leaving);
    this.#turn?.stop(new Error("The client has gone."));
    this.#memory.close();
    this.#unfinished.close();
  };

  #log(turn: Turn, startedAtMs: number): void {
    const { logger, exchange, owner } = this.#options;
    const { responseId, model } = turn;
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
    { status: 409, type: "invalid_request_error", code: "response_in_progress" },
  );
}

function tokenExpired(): ApiError {
  return new ApiError("The token that opened this connection has expired. Open a new one with a new token.", {
    status: 401,
    type: "invalid_request_error",
    code: "token_expired",
  });
}

function nothingToCancel(id: string | undefined): ApiError {
  const what = id === undefined ? "No response" : `No response with the id ${JSON.stringify(id)}`;
  return new ApiError(`${what} is being made on this connection, so there is nothing to cancel.`, {
    status: 404,
    type: "invalid_request_error",
    code: "response_not_found",
    param: "response_id",
  });
}

function describeMs(ms: number): string {
  return ms % 60_000 === 0 ? `${ms / 60_000} minutes` : `${ms / 1000} seconds`;
}
