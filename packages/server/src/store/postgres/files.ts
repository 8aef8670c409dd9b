// Files in PostgreSQL: one row each, and their content in rows of 256 KB, so that neither reading nor writing a large one
// needs much memory or a long transaction. Each statement may be repeated, if its answer was lost.

import { randomUUID } from "node:crypto";
import {
  type FileDetails,
  type FileStore,
  inFileChunks,
  type ListFilesOptions,
  type NewFile,
  type StoredFile,
} from "../file-store.ts";
import { duplicateFile, fileRemoved } from "../rules.ts";
import type { PostgresConnection } from "./connection.ts";
import { readPage } from "./lists.ts";
import { fromDbText, toDbText } from "./text.ts";

interface FileRow {
  readonly key: number;
  readonly owner: string;
  readonly id: string;
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
  readonly filename: string;
  readonly purpose: string;
  readonly bytes: number;
}

const columns = "f.key, f.owner, f.id, f.created_at_ms, f.expires_at_ms, f.filename, f.purpose, f.bytes";
/** Whether a file exists for its owner `$1`, at the time `$2` or that of the database. */
const isThere = `f.owner = $1 AND f.bytes IS NOT NULL AND (f.expires_at_ms IS NULL
  OR f.expires_at_ms > coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint))`;

export class PostgresFiles implements FileStore {
  readonly #db: PostgresConnection;
  readonly #now: (() => number) | undefined;

  constructor(db: PostgresConnection, now: (() => number) | undefined) {
    this.#db = db;
    this.#now = now;
  }

  async create(
    file: NewFile,
    content: AsyncIterable<Uint8Array>,
    details: () => FileDetails,
  ): Promise<StoredFile> {
    const key = await this.#begin(file);
    try {
      let bytes = 0;
      let position = 0;
      for await (const data of inFileChunks(content)) {
        await this.#addChunk(key, position, data, file.id);
        position += 1;
        bytes += data.length;
      }
      const { filename, purpose, expiresAtMs } = details();
      const finished = await this.#db.read(
        `UPDATE ${this.#files} SET bytes = $2, filename = $3, purpose = $4, expires_at_ms = $5 WHERE key = $1 RETURNING 1`,
        [key, bytes, toDbText(filename), toDbText(purpose), expiresAtMs],
      );
      if (finished.length === 0) throw fileRemoved(file.id);
      return { ...file, filename, purpose, expiresAtMs, bytes };
    } catch (error) {
      // What cannot be removed now is removed by `expire`.
      await this.#db.read(`DELETE FROM ${this.#files} WHERE key = $1`, [key]).catch(() => {});
      throw error;
    }
  }

  async get(owner: string, id: string): Promise<StoredFile | undefined> {
    const row = await this.#find(owner, id);
    return row && toFile(row);
  }

  async list(owner: string, options: ListFilesOptions) {
    const { purpose } = options;
    const { data, hasMore } = await readPage<FileRow>(this.#db, options, {
      columns,
      from: `FROM ${this.#files} f WHERE ${isThere}${purpose === undefined ? "" : " AND f.purpose = $3"}`,
      values: [...this.#values(owner), ...(purpose === undefined ? [] : [toDbText(purpose)])],
      order: ["f.created_at_ms", "f.id"],
      place: (id) => `SELECT f.created_at_ms, f.id FROM ${this.#files} f WHERE f.id = ${id} AND ${isThere}`,
    });
    return { data: data.map(toFile), hasMore };
  }

  async content(owner: string, id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const row = await this.#find(owner, id);
    return row && this.#chunks(row);
  }

  async remove(owner: string, id: string): Promise<boolean> {
    let isRetry = false;
    const removed = await this.#db.read(
      `DELETE FROM ${this.#files} f WHERE ${isThere} AND f.id = $3 RETURNING 1`,
      [...this.#values(owner), toDbText(id)],
      () => (isRetry = true),
    );
    return removed.length > 0 || isRetry;
  }

  async usage(owner: string) {
    const [row] = await this.#db.read<{ files: number; bytes: number }>(
      `SELECT count(*) AS files, coalesce(sum(f.bytes), 0)::bigint AS bytes FROM ${this.#files} f WHERE ${isThere}`,
      this.#values(owner),
    );
    return { files: row?.files ?? 0, bytes: row?.bytes ?? 0 };
  }

  async expire(beforeMs: number): Promise<number> {
    // One at a time: a large file has thousands of rows. Several nodes may do it, each with other files.
    for (let total = 0; ; total += 1) {
      const removed = await this.#db.read(
        `DELETE FROM ${this.#files} WHERE key IN (SELECT key FROM ${this.#files}
            WHERE expires_at_ms <= coalesce($1::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
              OR (bytes IS NULL AND created_at_ms < $2) LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING 1`,
        [this.#now?.() ?? null, beforeMs],
      );
      if (removed.length === 0) return total;
    }
  }

  async *#chunks({ key, id, bytes }: FileRow): AsyncGenerator<Uint8Array, void> {
    let read = 0;
    for (let position = 0; read < bytes; position += 1) {
      const [chunk] = await this.#db.read<{ data: Uint8Array }>(
        `SELECT data FROM ${this.#db.schema}.file_chunks WHERE file_key = $1 AND position = $2`,
        [key, position],
      );
      if (!chunk) throw fileRemoved(id);
      read += chunk.data.length;
      yield chunk.data;
    }
  }

  async #find(owner: string, id: string): Promise<FileRow | undefined> {
    const [row] = await this.#db.read<FileRow>(
      `SELECT ${columns} FROM ${this.#files} f WHERE ${isThere} AND f.id = $3`,
      [...this.#values(owner), toDbText(id)],
    );
    return row;
  }

  async #begin({ owner, id, createdAtMs }: NewFile): Promise<number> {
    const [row] = await this.#db.read<{ key: number }>(
      // Until it has a name, this one says whose row it is, if the statement has to be repeated.
      `INSERT INTO ${this.#files} AS f (owner, id, created_at_ms, filename, purpose) VALUES ($1, $2, $3, $4, '')
        ON CONFLICT (owner, id) DO UPDATE SET filename = excluded.filename
          WHERE f.bytes IS NULL AND f.filename = excluded.filename RETURNING key`,
      [toDbText(owner), toDbText(id), createdAtMs, randomUUID()],
    );
    if (!row) throw duplicateFile(id);
    return row.key;
  }

  async #addChunk(key: number, position: number, data: Uint8Array, id: string): Promise<void> {
    const added = await this.#db.read(
      `INSERT INTO ${this.#db.schema}.file_chunks (file_key, position, data)
        SELECT key, $2, $3 FROM ${this.#files} WHERE key = $1
        ON CONFLICT (file_key, position) DO UPDATE SET data = excluded.data RETURNING 1`,
      [key, position, Buffer.from(data.buffer, data.byteOffset, data.byteLength)],
    );
    if (added.length === 0) throw fileRemoved(id);
  }

  get #files(): string {
    return `${this.#db.schema}.files`;
  }

  /** Of `isThere`. */
  #values(owner: string): unknown[] {
    return [toDbText(owner), this.#now?.() ?? null];
  }
}

function toFile(row: FileRow): StoredFile {
  return {
    id: fromDbText(row.id),
    owner: fromDbText(row.owner),
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    filename: fromDbText(row.filename),
    purpose: fromDbText(row.purpose),
    bytes: row.bytes,
  };
}
