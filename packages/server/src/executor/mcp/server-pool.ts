// Connections to the MCP servers of requests. Their tools are cached, and not listed for each request.

import { type McpServer, mcpServer } from "rondo/mcp";
import { guardedFetch } from "./guarded-fetch.ts";
import { redactingFetch } from "./redact.ts";
import type { RequestServer } from "./request-server.ts";
import { serverName } from "./server-name.ts";
import type { UrlGuard } from "./url-guard.ts";

export interface ServerPoolOptions {
  readonly guard: UrlGuard;
  readonly onWarning: (message: string) => void;
  /** How long the tools of a server are cached. Default: 600,000. */
  readonly keepMs?: number | undefined;
  /** How many idle connections an owner may have. Default: 32. */
  readonly maxPerOwner?: number | undefined;
}

export interface Pooled {
  readonly server: McpServer;
  /** Keeps the connection until the returned function is called. */
  hold(): () => void;
}

const connectTimeoutMs = 10_000;

interface Entry extends Pooled {
  readonly owner: string;
  readonly timer: NodeJS.Timeout;
  close(): Promise<void>;
  holders: number;
  isRetired: boolean;
}

export class ServerPool {
  readonly #options: ServerPoolOptions;
  /** By key, least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #retired = new Set<Entry>();

  constructor(options: ServerPoolOptions) {
    this.#options = options;
  }

  get(owner: string, wanted: RequestServer): Pooled {
    const { key } = wanted;
    const entry = this.#entries.get(key) ?? this.#open(owner, wanted);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#makeRoom(owner);
    return entry;
  }

  async close(): Promise<void> {
    const all = [...this.#entries.values(), ...this.#retired];
    this.#entries.clear();
    this.#retired.clear();
    await Promise.all(all.map((entry) => entry.close()));
  }

  #open(owner: string, { key, label, url, headers }: RequestServer): Entry {
    const { guard, onWarning, keepMs = 600_000 } = this.#options;
    const guarded = guardedFetch(guard);
    const server = mcpServer({
      name: serverName(label),
      url,
      headers,
      fetch: redactingFetch(guarded.fetch, headers),
      connectTimeoutMs,
      onWarning,
    });
    const entry: Entry = {
      owner,
      server,
      timer: setTimeout(() => this.#retire(key), keepMs).unref(),
      holders: 0,
      isRetired: false,
      hold: () => {
        entry.holders += 1;
        let isHeld = true;
        return () => {
          if (!isHeld) return;
          isHeld = false;
          entry.holders -= 1;
          this.#closeIfFree(entry);
        };
      },
      close: async () => {
        clearTimeout(entry.timer);
        await server.close();
        guarded.close();
      },
    };
    return entry;
  }

  /** Closes the least recently used connections of this owner, never those of others. */
  #makeRoom(owner: string): void {
    const own = [...this.#entries].filter(([, entry]) => entry.owner === owner);
    const tooMany = own.length - (this.#options.maxPerOwner ?? 32);
    for (const [key] of own.slice(0, Math.max(0, tooMany))) this.#retire(key);
  }

  /** Removes a connection from the pool; it closes when no run needs it. */
  #retire(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#retired.add(entry);
    entry.isRetired = true;
    this.#closeIfFree(entry);
  }

  #closeIfFree(entry: Entry): void {
    if (!entry.isRetired || entry.holders > 0 || !this.#retired.delete(entry)) return;
    void entry.close();
  }
}
