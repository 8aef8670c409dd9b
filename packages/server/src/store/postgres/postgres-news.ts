// News between nodes: the ids of what has changed and the number of the last event, never the events themselves. While
// one message is on its way the next are collected, so that a fast stream costs no more than the network can take. They
// are sent beside the transactions that keep things: a message never delays or fails a commit.

import type { News, NewsListener } from "../news.ts";
import { LocalNews } from "../news.ts";
import type { StoredEvent } from "../store.ts";

/** The limit of PostgreSQL is 8000 bytes. */
const maxBytes = 7500;
/** Stands for all topics. */
const everything = "*";

export interface PostgresNewsOptions {
  /** Sends texts to the other nodes. */
  readonly send: (texts: readonly string[]) => Promise<void>;
  /** Called before the listeners of a topic. */
  readonly onNews: (topic: string) => void;
  /** Called before all listeners. */
  readonly onGap: () => void;
}

export class PostgresNews implements News {
  readonly #local = new LocalNews();
  readonly #options: PostgresNewsOptions;
  /** With the number of the last event; -1 without. */
  readonly #pending = new Map<string, number>();
  #isSending = false;

  constructor(options: PostgresNewsOptions) {
    this.#options = options;
  }

  /** What somebody on this node listens to. */
  get topics(): readonly string[] {
    return this.#local.topics;
  }

  publish(topic: string, events?: readonly StoredEvent[]): void {
    this.#options.onNews(topic);
    this.#local.publish(topic, events);
    const last = events?.at(-1)?.sequence ?? -1;
    this.#pending.set(topic, Math.max(last, this.#pending.get(topic) ?? -1));
    if (!this.#isSending) void this.#sendAll();
  }

  subscribe(topic: string, listener: NewsListener): () => void {
    return this.#local.subscribe(topic, listener);
  }

  /** Notifies the listeners of this node only. */
  publishHere(topic: string): void {
    this.#options.onNews(topic);
    this.#local.publish(topic);
  }

  /** Something may have been missed. */
  publishAllHere(): void {
    this.#options.onGap();
    this.#local.publishAll();
  }

  /** What another node has sent. */
  receive(text: string): void {
    for (const topic of topicsOf(text)) {
      if (topic === everything) this.publishAllHere();
      else this.publishHere(topic);
    }
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    try {
      // Those of one tick together.
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#pending.size > 0) {
        const texts = toTexts([...this.#pending]);
        this.#pending.clear();
        // A message that is lost with its connection is made up for: all nodes look again when they are connected.
        await this.#options.send(texts).catch(() => {});
      }
    } finally {
      this.#isSending = false;
    }
  }
}

/** As few texts as the limit allows. */
function toTexts(news: readonly (readonly [topic: string, sequence: number])[]): string[] {
  const texts: string[] = [];
  let text = "";
  for (const [topic, sequence] of news) {
    const entry = JSON.stringify([topic, sequence]);
    const part = Buffer.byteLength(entry) > maxBytes ? JSON.stringify([everything, -1]) : entry;
    if (text !== "" && Buffer.byteLength(text) + Buffer.byteLength(part) + 1 > maxBytes) {
      texts.push(text);
      text = "";
    }
    text = text === "" ? part : `${text},${part}`;
  }
  if (text !== "") texts.push(text);
  return texts;
}

/** None if the text is not one of ours: everybody who may connect may send one. */
function topicsOf(text: string): string[] {
  try {
    const news = JSON.parse(`[${text}]`) as unknown;
    if (!Array.isArray(news)) return [];
    return news.flatMap((entry: unknown) =>
      Array.isArray(entry) && typeof entry[0] === "string" ? [entry[0]] : [],
    );
  } catch {
    return [];
  }
}
