// Reads chains of responses, with a cache of the items: the next response of a chain needs all of its links again, and
// those that have ended do not change. Which links there are is always read, as other nodes may have removed some.

import { isTerminal, type ResponseStatus } from "../../protocol/status.ts";
import type { Chain, ChainLink } from "../store.ts";
import type { PostgresConnection } from "./connection.ts";
import { type ItemRow, toItems } from "./rows.ts";
import { fromDbText, toDbText } from "./text.ts";

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
  readonly is_closed: boolean;
  readonly previous: string | null;
  /** Null if they are cached. */
  readonly items: ItemRow[] | null;
}

export class Chains {
  readonly #db: PostgresConnection;
  readonly #limit: number;
  /** By id, in two generations: a used link moves to the new one; when that is full, the old one is dropped. */
  #new = new Map<string, CachedLink>();
  #old = new Map<string, CachedLink>();
  /** Of the new generation. */
  #size = 0;

  constructor(db: PostgresConnection, limit = maxCachedChars) {
    this.#db = db;
    this.#limit = limit;
  }

  /** The response `id` and all before it, in one query. */
  async read(owner: string, id: string): Promise<Chain> {
    const cached = this.#cachedFrom(owner, id);
    const rows = await this.#db.read<LinkRow>(
      `WITH RECURSIVE chain (key, id, status, is_closed, previous) AS (
         SELECT key, id, status, is_closed, previous_response_id FROM ${this.#db.schema}.responses
          WHERE id = $1 AND owner = $2
         UNION ALL
         SELECT p.key, p.id, p.status, p.is_closed, p.previous_response_id FROM chain c
           JOIN ${this.#db.schema}.responses p ON p.id = c.previous AND p.owner = $2 AND p.key < c.key
       )
       SELECT c.*, CASE WHEN c.key = ANY ($3::bigint[]) THEN NULL ELSE (
           SELECT coalesce(jsonb_agg(jsonb_build_object('is_output', i.is_output, 'position', i.position,
             'turn', i.turn, 'data', i.data) ORDER BY i.is_output, i.position), '[]')
           FROM ${this.#db.schema}.items i WHERE i.response_key = c.key) END AS items
         FROM chain c ORDER BY c.key DESC`,
      [toDbText(id), toDbText(owner), [...cached.keys()]],
    );
    const links = rows.map((row) => this.#toLink(owner, row, cached.get(row.key)));
    const last = rows.at(-1);
    const missing = last ? last.previous : toDbText(id);
    if (missing !== null) return { links: [], missing: fromDbText(missing) };
    return { links: links.toReversed() };
  }

  /** May be called for a deleted response: its items are then not kept any longer. */
  forget(id: string): void {
    this.#size -= this.#new.get(id)?.size ?? 0;
    this.#new.delete(id);
    this.#old.delete(id);
  }

  /** By their keys: the cached links that a chain is likely to have. */
  #cachedFrom(owner: string, id: string): Map<number, CachedLink> {
    const found = new Map<number, CachedLink>();
    for (let next: string | null = id; next !== null; ) {
      const kept = this.#find(next);
      if (kept?.owner !== owner || found.has(kept.key)) break;
      found.set(kept.key, kept);
      next = kept.previous;
    }
    return found;
  }

  #toLink(owner: string, row: LinkRow, cached: CachedLink | undefined): ChainLink {
    if (cached && row.items === null) return cached.link;
    const items = row.items ?? [];
    const link = frozen({
      id: fromDbText(row.id),
      status: row.status,
      isClosed: row.is_closed,
      ...toItems(items),
    });
    const previous = row.previous === null ? null : fromDbText(row.previous);
    const size = items.reduce((sum, { data }) => sum + data.length, linkSize);
    this.#keep({ link, key: row.key, owner, previous, size });
    return link;
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

/** Cached links are shared: they must not change. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const part of Object.values(Object.freeze(value))) frozen(part);
  return value;
}
