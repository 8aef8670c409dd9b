// Reads chains of responses, with a cache: the next response of a chain needs all of its links again. Ended responses
// do not change, and only this store can delete them.

import { isTerminal, type ResponseStatus } from "../../protocol/status.ts";
import type { Chain, ChainLink } from "../store.ts";
import type { SqliteConnection } from "./connection.ts";
import { type ItemRow, toItems } from "./rows.ts";

/** The size of the cache, in characters of JSON. The objects take about twice as many bytes. */
const maxCachedChars = 8_000_000;
/** What a link counts for besides its items. */
const linkSize = 200;

/** A link, with what is needed to find the one before it. */
interface CachedLink {
  readonly link: ChainLink;
  readonly key: number;
  readonly owner: string;
  readonly previous: string | null;
  /** In characters of JSON. */
  readonly size: number;
}

interface LinkRow {
  readonly key: number;
  readonly id: string;
  readonly status: ResponseStatus;
  readonly is_closed: number;
  readonly previous: string | null;
}

/** Where a chain continues: at the response `id`, if it is older than the one with the key `before`. */
interface Place {
  readonly owner: string;
  readonly id: string;
  readonly before: number;
}

/** A chain that was read: the next response of it needs only a link more. */
interface RecentChain {
  readonly id: string;
  readonly owner: string;
  /** Of its newest response. */
  readonly key: number;
  readonly links: readonly ChainLink[];
  /** In characters of JSON. */
  readonly size: number;
  /** The chain that it continues, if that was read before. */
  readonly from: string | undefined;
}

/** So many of them are kept, together within the limit of the cache. */
const maxRecent = 32;

export class Chains {
  readonly #db: SqliteConnection;
  readonly #limit: number;
  /** The last used first. Their links are mostly cached too. */
  #recent: readonly RecentChain[] = [];
  /** By id, in two generations: a used link moves to the new one; when that is full, the old one is dropped. */
  #new = new Map<string, CachedLink>();
  #old = new Map<string, CachedLink>();
  /** Of the new generation. */
  #size = 0;

  constructor(db: SqliteConnection, limit = maxCachedChars) {
    this.#db = db;
    this.#limit = limit;
  }

  /** The response `id` and all before it. */
  read(owner: string, id: string): Chain {
    /** The newest first. */
    const found: CachedLink[] = [];
    // A response can only follow an older one: the keys decrease, so that there can be no cycle.
    let before = Number.MAX_SAFE_INTEGER;
    // Mostly only the newest link is not cached. Otherwise, each query reads more links than the one before.
    let count = 1;
    let from: RecentChain | undefined;
    for (let next: string | null = id; next !== null; ) {
      from = found.length < 2 ? this.#findRecent(owner, next, before) : undefined;
      if (from) break;
      const kept = this.#find(next);
      if (kept?.owner === owner && kept.key < before) {
        found.push(kept);
        ({ key: before, previous: next } = kept);
        continue;
      }
      const stored = readLinks(this.#db, { owner, id: next, before }, count);
      const last = stored.at(-1);
      if (!last) return { links: [], missing: next };
      for (const each of stored) {
        this.#keep(each);
        found.push(each);
      }
      ({ key: before, previous: next } = last);
      count *= 8;
    }
    return { links: this.#join(from, found) };
  }

  /** The links of the chain `from`, and those that come after it. */
  #join(from: RecentChain | undefined, newer: readonly CachedLink[]): readonly ChainLink[] {
    const [tip] = newer;
    if (!tip) return from?.links ?? [];
    const links = [...(from?.links ?? []), ...newer.map(({ link }) => link).toReversed()];
    const size = newer.reduce((sum, link) => sum + link.size, from?.size ?? 0);
    const { key, owner, link } = tip;
    if (isTerminal(link.status)) this.#keepRecent({ id: link.id, owner, key, links, size, from: from?.id });
    // Two of a conversation are enough: it mostly goes on from the newer one.
    if (from?.from !== undefined) this.#recent = this.#recent.filter(({ id }) => id !== from.from);
    return links;
  }

  /** Must be called for all deleted responses. */
  forget(ids: ReadonlySet<string>): void {
    for (const id of ids) {
      this.#size -= this.#new.get(id)?.size ?? 0;
      this.#new.delete(id);
      this.#old.delete(id);
    }
    this.#recent = this.#recent.filter(({ links }) => !links.some(({ id }) => ids.has(id)));
  }

  #findRecent(owner: string, id: string, before: number): RecentChain | undefined {
    const found = this.#recent.find((it) => it.id === id && it.owner === owner && it.key < before);
    if (found) this.#keepRecent(found);
    return found;
  }

  #keepRecent(chain: RecentChain): void {
    let left = this.#limit - chain.size;
    if (left < 0) return;
    const others = this.#recent.filter((it) => it !== chain).slice(0, maxRecent - 1);
    const fitting = others.filter(({ size }) => {
      left -= size;
      return left >= 0;
    });
    this.#recent = [chain, ...fitting];
  }

  #find(id: string): CachedLink | undefined {
    const known = this.#new.get(id);
    if (known) return known;
    const old = this.#old.get(id);
    if (old) this.#keep(old);
    return old;
  }

  #keep(found: CachedLink): void {
    const { id, status } = found.link;
    if (!isTerminal(status)) return;
    if (this.#size > this.#limit / 2) {
      this.#old = this.#new;
      this.#new = new Map();
      this.#size = 0;
    }
    this.#new.set(id, found);
    this.#size += found.size;
  }
}

/** At most `count` links, the newest first. */
function readLinks(db: SqliteConnection, { owner, id, before }: Place, count: number): CachedLink[] {
  const rows = db.all<LinkRow>(
    `WITH RECURSIVE chain (key, id, status, is_closed, previous) AS (
       SELECT key, id, status, is_closed, previous_response_id FROM responses
        WHERE id = ?1 AND owner = ?2 AND key < ?3
       UNION ALL
       SELECT p.key, p.id, p.status, p.is_closed, p.previous_response_id FROM chain c
         JOIN responses p ON p.id = c.previous AND p.owner = ?2 AND p.key < c.key
       LIMIT ?4
     )
     SELECT * FROM chain c ORDER BY c.key DESC`,
    id,
    owner,
    before,
    count,
  );
  const items = db.all<ItemRow & { response_key: number }>(
    `SELECT i.response_key, i.is_output, i.position, i.turn, i.count, i.data
       FROM json_each(?) k CROSS JOIN items i ON i.response_key = k.value
      ORDER BY i.response_key, i.is_output, i.position`,
    JSON.stringify(rows.map((row) => row.key)),
  );
  const itemsOf = Map.groupBy(items, (item) => item.response_key);
  return rows.map((row) => {
    const own = itemsOf.get(row.key) ?? [];
    const { key, id, status, previous } = row;
    return {
      link: frozen({ id, status, isClosed: row.is_closed === 1, ...toItems(own) }),
      key,
      owner,
      previous,
      size: own.reduce((sum, { data }) => sum + data.length, linkSize),
    };
  });
}

/** Cached links are shared: they must not change. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const part of Object.values(Object.freeze(value))) frozen(part);
  return value;
}
