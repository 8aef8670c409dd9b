// A client that wants every event of a stream once, whatever happens to the server.

import type { Frame } from "../../conformance/testkit/frames.ts";
import { framesOf } from "../../conformance/testkit/frames.ts";
import type { Life, ServerProcess } from "./server-process.ts";

/** Starts a response over HTTP, on a connection of its own. */
export function post(url: string, body: unknown): Promise<Response> {
  return fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify(body),
  });
}

/** GETs JSON, or throws with what the server has said. */
export async function getJson<T>(url: string, path: string): Promise<T> {
  const answer = await fetch(`${url}/v1${path}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`GET ${path} was answered with ${answer.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** Hands on the frames of an answer as they come. Throws when the connection breaks; a cut frame is left out. */
export async function readFrames(answer: Response, take: (frame: Frame) => void): Promise<void> {
  if (!answer.ok || !answer.body)
    throw new Error(`Expected a stream, but the answer was ${answer.status}: ${await answer.text()}`);
  let rest = "";
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    rest += piece;
    const end = rest.lastIndexOf("\n\n") + 2;
    if (end < 2) continue;
    for (const frame of framesOf(rest.slice(0, end))) take(frame);
    rest = rest.slice(end);
  }
}

export class Follower {
  /** Every frame, in the order in which they came, over all connections. */
  readonly frames: Frame[] = [];
  connectionCount = 0;
  readonly #server: ServerProcess;
  readonly #onFrame: (frame: Frame) => void;
  #last = -1;
  #isDone = false;

  constructor(server: ServerProcess, onFrame: (frame: Frame) => void = () => {}) {
    this.#server = server;
    this.#onFrame = onFrame;
  }

  /** The id of the response, once the first event has told it. */
  get id(): string | undefined {
    return (this.frames[0]?.data as { response?: { id?: string } } | undefined)?.response?.id;
  }

  /** Reads one connection to its end. Throws when it ends too early although nobody has killed the server. */
  async read(life: Life, connect: () => Promise<Response>): Promise<void> {
    this.connectionCount++;
    try {
      await readFrames(await connect(), (frame) => this.#take(frame));
      if (!this.#isDone) throw new Error(`A stream of '${this.id}' ended without [DONE].`);
    } catch (error) {
      if (!life.isOver) throw error;
    }
  }

  /** Follows a background response to its end, from wherever this follower is. */
  async follow(id: string): Promise<void> {
    while (!this.#isDone) {
      const life = await this.#server.serving();
      const after = this.#last < 0 ? "" : `&starting_after=${this.#last}`;
      await this.read(life, () => fetch(`${life.url}/v1/responses/${id}?stream=true${after}`));
    }
  }

  #take(frame: Frame): void {
    this.frames.push(frame);
    if (frame.data === "[DONE]") this.#isDone = true;
    else this.#last = (frame.data as { sequence_number: number }).sequence_number;
    this.#onFrame(frame);
  }
}
