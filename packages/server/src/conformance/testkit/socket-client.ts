// A WebSocket client that writes down everything that it gets, and what is wrong with it.

import type { IncomingMessage } from "node:http";
import { type ClientOptions, type RawData, WebSocket } from "ws";
import { flawsOf } from "./public-schema.ts";
import { streamFlaws } from "./stream-checker.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into it without ceremony.
export type Wire = any;

const ends = ["response.completed", "response.incomplete", "response.failed", "error"];

export interface Answer {
  readonly events: Wire[];
  /** The last event: the end of a response, or an error. */
  readonly last: Wire;
  /** The response that it has ended with, if it has. */
  readonly response: Wire;
}

export class SocketClient {
  readonly socket: WebSocket;
  /** All that has come. */
  readonly events: Wire[] = [];
  /** How the connection has ended. */
  readonly closed: Promise<{ code: number; reason: string }>;
  #read = 0;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => {
      this.events.push(eventOf(data));
      this.#look();
    });
    socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      socket.once("close", (code, reason) => {
        resolve({ code, reason: String(reason) });
        this.#look();
      });
    });
  }

  /** Opens a connection. Throws when it is refused. */
  static async open(baseURL: string, options: ClientOptions = {}): Promise<SocketClient> {
    const socket = new WebSocket(`${baseURL.replace(/^http/, "ws")}/responses`, options);
    const client = new SocketClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("unexpected-response", (_request, incoming) => {
        refusal(incoming)
          .then(reject, reject)
          .finally(() => socket.terminate());
      });
      socket.once("error", reject);
    });
    return client;
  }

  send(frame: object | string): void {
    this.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  }

  /** The next event of these types, or any. Throws when the connection ends before it comes. */
  next(...types: string[]): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const look = () => {
        while (this.#read < this.events.length) {
          const event = this.events[this.#read++];
          if (types.length > 0 && !types.includes(event.type)) continue;
          this.#waiting.delete(look);
          resolve(event);
          return;
        }
        if (this.socket.readyState !== WebSocket.CLOSED) return;
        this.#waiting.delete(look);
        reject(new Error(`The connection was closed before ${types.join(" or ") || "anything"} came.`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Sends a `response.create`, and reads to its end. */
  async ask(body: object): Promise<Answer> {
    this.send({ type: "response.create", ...body });
    return this.answer();
  }

  /** Reads to the end of a response, or to an error. An error of the model is followed by such an end. */
  async answer(): Promise<Answer> {
    const from = this.#read;
    let last = await this.next(...ends);
    if (last.type === "error" && last.sequence_number !== undefined) last = await this.next(...ends);
    return { events: this.events.slice(from, this.#read), last, response: last.response };
  }

  close(): void {
    this.socket.close();
  }

  #look(): void {
    for (const look of this.#waiting) look();
  }
}

/** The event in a frame. */
export function eventOf(data: RawData): Wire {
  return JSON.parse((data as Buffer).toString("utf8"));
}

async function refusal(incoming: IncomingMessage): Promise<Error> {
  const text = Buffer.concat((await incoming.toArray()) as Buffer[]).toString();
  return Object.assign(new Error(text), { status: incoming.statusCode });
}

/** What is wrong with the events of one response. They are those of an event stream, but for its last words. */
export function socketFlaws(events: readonly Wire[]): string[] {
  return [
    ...orderFlaws(events),
    ...events.flatMap((event) =>
      flawsOf("ResponseStreamEvent", event).map((flaw) => `${event.type}: ${flaw}`),
    ),
  ];
}

/** The same without the public schema, where the events repeat what the client itself has said wrong. */
export function orderFlaws(events: readonly Wire[]): string[] {
  const frames = events.map((event) => ({ event: event.type, data: event }));
  return streamFlaws([...frames, { event: undefined, data: "[DONE]" }]);
}

/** What is wrong with an error that belongs to no response. */
export function errorFlaws(event: Wire): string[] {
  const { type, status, error, ...rest } = event;
  return [
    ...(type === "error" && status >= 400 && status < 600 ? [] : [`no error: ${JSON.stringify(event)}`]),
    ...flawsOf("ErrorObject", error ?? null),
    ...Object.keys(rest).filter((key) => key !== "stream_id"),
  ];
}
