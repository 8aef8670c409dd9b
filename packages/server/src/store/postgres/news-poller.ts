// Polls for news where `LISTEN` does not work: one small query for all listeners of a node, however many there are.

import { cancelsTopic, jobsTopic } from "../news.ts";
import type { PostgresConnection } from "./connection.ts";
import type { PostgresNews } from "./postgres-news.ts";
import { fromDbText, toDbText } from "./text.ts";

export interface NewsPollerOptions {
  readonly node: () => number | undefined;
  /** Default: 100. */
  readonly pollMs?: number | undefined;
}

/** The state of what a topic is about, as text: if it changes, there is news. */
interface StateRow {
  readonly topic: string;
  readonly state: string;
}

export class NewsPoller {
  readonly #db: PostgresConnection;
  readonly #news: PostgresNews;
  readonly #options: NewsPollerOptions;
  #states = new Map<string, string>();
  readonly #timer: NodeJS.Timeout;
  #polling: Promise<void> | undefined;

  constructor(db: PostgresConnection, news: PostgresNews, options: NewsPollerOptions) {
    this.#db = db;
    this.#news = news;
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#polling ??= this.#poll()
        .catch(() => {})
        .finally(() => {
          this.#polling = undefined;
        });
    }, options.pollMs ?? 100).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#polling;
  }

  async #poll(): Promise<void> {
    const topics = new Set(this.#news.topics);
    if (topics.size === 0) return;
    const s = this.#db.schema;
    const rows = await this.#db.read<StateRow>(
      `SELECT r.id AS topic, r.status || ' ' || r.last_sequence AS state
         FROM ${s}.responses r WHERE r.id = ANY ($1::text[])
       UNION ALL
       SELECT c.id, c.version || ' ' || (SELECT count(*) FROM ${s}.responses r WHERE r.owner = c.owner
           AND r.conversation_id = c.id AND r.status IN ('queued', 'in_progress'))
         FROM ${s}.conversations c WHERE c.id = ANY ($1::text[])
       UNION ALL
       SELECT '${jobsTopic}', max(r.key) || ' ' || count(*) FILTER (WHERE r.worker IS NULL)
         FROM ${s}.responses r WHERE r.status IN ('queued', 'in_progress')
       UNION ALL
       SELECT '${cancelsTopic}', string_agg(r.id, ' ')
         FROM ${s}.responses r WHERE r.status IN ('queued', 'in_progress') AND r.is_cancel_requested AND r.node = $2`,
      [[...topics].map(toDbText), this.#options.node() ?? null],
    );
    const states = new Map(rows.map(({ topic, state }) => [fromDbText(topic), state ?? ""]));
    const before = this.#states;
    this.#states = states;
    // A topic without a state is one of something that was removed.
    for (const topic of topics)
      if (!before.has(topic) || before.get(topic) !== states.get(topic)) this.#news.publishHere(topic);
  }
}
