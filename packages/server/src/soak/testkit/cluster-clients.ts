// Clients of several nodes: each request goes to any of them, and to another one if that fails. What a client was told is
// kept, to be held against what the database has.

import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Frame } from "../../conformance/testkit/frames.ts";
import { requestFor } from "./clients.ts";
import { readFrames } from "./follower.ts";
import type { NodeCluster } from "./node-cluster.ts";
import { type Random, random } from "./random.ts";
import type { ReadResponse } from "./review.ts";
import type { Story } from "./story.ts";

/** How long a client waits for a reply, or for the next event. Longer than the pauses of a healthy node. */
const silenceMs = 4000;

export class ClusterClients {
  readonly followed: ReadResponse[] = [];
  readonly foreground: ReadResponse[] = [];
  /** The responses of conversations, in the order in which they were acknowledged. */
  readonly conversations: { readonly id: string; readonly responses: string[] }[] = [];
  /** What a client must not be told. */
  readonly flaws: string[] = [];
  readonly figures = { connections: 0, lostConnections: 0, unavailable: 0 };
  readonly #cluster: NodeCluster;
  readonly #seed: number;
  readonly #chance: Random;
  #isStopped = false;
  #stories = 0;
  readonly ended: Promise<unknown>;

  /** `isIdle`: nothing is done but what is asked for. */
  constructor(
    cluster: NodeCluster,
    { seed, count, isIdle = false }: { seed: number; count: number; isIdle?: boolean },
  ) {
    this.#cluster = cluster;
    this.#seed = seed;
    this.#chance = random(seed, 77);
    const busy = Array.from({ length: count }, () => this.#repeat(() => this.#followRun()));
    const others = isIdle ? [] : [() => this.#waitForRun(), () => this.#talk()];
    this.ended = Promise.all([...busy, ...others.map((work) => this.#repeat(work))]);
    this.ended.catch(() => {}); // it is looked at in the end
  }

  /** Starts nothing new. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Makes a request until there is an answer that is not about the server's state. */
  async request(
    path: string,
    { headers, ...init }: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {},
  ): Promise<Response> {
    while (true) {
      const url = await this.#cluster.url(this.#chance);
      this.figures.connections += 1;
      const left = new AbortController();
      const timer = setTimeout(() => left.abort(), silenceMs);
      try {
        const reply = await fetch(`${url}/v1${path}`, {
          ...init,
          headers: { "content-type": "application/json", connection: "close", ...headers },
          signal: left.signal,
        });
        if (reply.status < 500) return reply;
        const text = await reply.text();
        // A foreground run that ended with its node.
        if (text.includes('"interrupted"')) return new Response(text, { status: reply.status });
        this.figures.unavailable += 1;
        if (reply.status !== 503 || !reply.headers.has("retry-after"))
          this.flaws.push(`${path} was answered with ${reply.status} ${text.slice(0, 200)}`);
      } catch {
        this.figures.lostConnections += 1;
      } finally {
        clearTimeout(timer);
      }
      await wait(this.#chance.integer(20, 200));
    }
  }

  /** Creates a response. The key makes sure that it is one, however often the request is repeated. */
  async create(body: object): Promise<{ id: string; status: string }> {
    const headers = { "idempotency-key": randomUUID() };
    const reply = await this.request("/responses", { method: "POST", body: JSON.stringify(body), headers });
    const text = await reply.text();
    if (!reply.ok && !text.includes('"interrupted"'))
      throw new Error(`A request was answered with ${reply.status}: ${text}`);
    return JSON.parse(text) as { id: string; status: string };
  }

  /** Reads a stream to its end, over as many connections as it takes. */
  async follow(id: string, onFrame: (frame: Frame) => void = () => {}): Promise<ReadResponse> {
    const frames: Frame[] = [];
    const read = { id, frames };
    let last = -1;
    while (frames.at(-1)?.data !== "[DONE]") {
      const url = await this.#cluster.url(this.#chance);
      const after = last < 0 ? "" : `&starting_after=${last}`;
      const left = new AbortController();
      let timer = setTimeout(() => left.abort(), silenceMs);
      this.figures.connections += 1;
      try {
        const reply = await fetch(`${url}/v1/responses/${id}?stream=true${after}`, { signal: left.signal });
        if (reply.status === 404) throw new Error(`The response ${id} is lost.`, { cause: "lost" });
        if (!reply.ok) throw new Error(`${reply.status}`);
        await readFrames(reply, (frame) => {
          clearTimeout(timer);
          timer = setTimeout(() => left.abort(), silenceMs);
          frames.push(frame);
          if (frame.data !== "[DONE]") last = (frame.data as { sequence_number: number }).sequence_number;
          onFrame(frame);
        });
      } catch (error) {
        if ((error as Error).cause === "lost") throw error;
        this.figures.lostConnections += 1;
        await wait(this.#chance.integer(10, 100));
      } finally {
        clearTimeout(timer);
      }
    }
    return read;
  }

  newStory(options: Partial<Story> = {}): Story {
    this.#stories += 1;
    const chance = random(this.#seed, this.#stories);
    return {
      name: `story ${this.#seed}.${this.#stories}`,
      seed: chance.integer(0, 1_000_000),
      steps: chance.integer(1, 3),
      length: chance.integer(20, 80),
      paceMs: 8,
      toolMs: 120,
      ...options,
    };
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#isStopped) await work();
  }

  async #followRun(): Promise<void> {
    const { id } = await this.create({ ...requestFor(this.newStory()), background: true });
    this.followed.push(await this.follow(id));
  }

  /** A plain request. With its key it is found again, whichever node began it. */
  async #waitForRun(): Promise<void> {
    const { id } = await this.create(requestFor(this.newStory({ steps: 1, length: 20 })));
    // An error has no id.
    if (id !== undefined) this.foreground.push({ id, frames: [] });
    await wait(200);
  }

  /** Some responses of a conversation at once: they wait for each other. */
  async #talk(): Promise<void> {
    const made = await this.request("/conversations", { method: "POST", body: "{}" });
    const { id } = (await made.json()) as { id: string };
    const talk = { id, responses: [] as string[] };
    const reads: Promise<ReadResponse>[] = [];
    for (let count = 0; count < 3; count++) {
      const story = this.newStory({ steps: 1, length: 20, toolMs: 40 });
      const created = await this.create({ ...requestFor(story), background: true, conversation: id });
      talk.responses.push(created.id);
      reads.push(this.follow(created.id));
    }
    this.followed.push(...(await Promise.all(reads)));
    this.conversations.push(talk);
    await wait(300);
  }
}
