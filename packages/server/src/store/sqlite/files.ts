// Files in SQLite: one row each, and their content in rows of 256 KB, so that neither reading nor writing a large one
// needs much memory or a long transaction.

import type { SQLInputValue } from "node:sqlite";
import {
  type FileDetails,
  type FileStore,
  inFileChunks,
  type ListFilesOptions,
  type NewFile,
  type StoredFile,
} from "../file-store.ts";
import { duplicateFile, fileRemoved } from "../rules.ts";
import type { SqliteConnection } from "./connection.ts";
import type { GroupWriter } from "./group-writer.ts";
import { readPage } from "./lists.ts";

interface FileRow {
  key: number;
  owner: string;
  id: string;
  created_at_ms: number;
  expires_at_ms: number | null;
  filename: string;
  purpose: string;
  bytes: number;
}

const columns = "key, owner, id, created_at_ms, expires_at_ms, filename, purpose, bytes";
/** Whether a file exists for its owner. Takes the owner and the time. */
const isThere = "owner = ? AND bytes IS NOT NULL AND (expires_at_ms IS NULL OR expires_at_ms > ?)";

export class SqliteFiles implements FileStore {
  readonly #db: SqliteConnection;
  readonly #writer: GroupWriter;
  readonly #now: () => number;

  constructor(db: SqliteConnection, writer: GroupWriter, now: () => number) {
    this.#db = db;
    this.#writer = writer;
    this.#now = now;
  }

  async create(
    file: NewFile,
    content: AsyncIterable<Uint8Array>,
    details: () => FileDetails,
  ): Promise<StoredFile> {
    const key = await this.#write(() => this.#begin(file), { isDurable: false });
    try {
      let bytes = 0;
      let position = 0;
      for await (const data of inFileChunks(content)) {
        const at = position++;
        await this.#write(() => this.#addChunk(key, at, data, file.id), { isDurable: false });
        bytes += data.length;
      }
      const { filename, purpose, expiresAtMs } = details();
      const finish = () =>
        this.#db.change(
          "UPDATE files SET bytes = ?, filename = ?, purpose = ?, expires_at_ms = ? WHERE key = ?",
          bytes,
          filename,
          purpose,
          expiresAtMs,
          key,
        );
      if ((await this.#write(finish, { isDurable: true })) === 0) throw fileRemoved(file.id);
      return { ...file, filename, purpose, expiresAtMs, bytes };
    } catch (error) {
      // A store that is closed or broken removes it at the next start.
      await this.#write(() => this.#db.change("DELETE FROM files WHERE key = ?", key), {
        isDurable: false,
      }).catch(() => {});
      throw error;
    }
  }

  async get(owner: string, id: string): Promise<StoredFile | undefined> {
    return this.#db.read(() => {
      const row = this.#find(owner, id);
      return row && toFile(row);
    });
  }

  async list(owner: string, options: ListFilesOptions) {
    const { purpose } = options;
    return this.#db.read(() => {
      const { data, hasMore } = readPage<FileRow>(this.#db, options, {
        select: `SELECT ${columns} FROM files WHERE ${isThere}${purpose === undefined ? "" : " AND purpose = ?"}`,
        values: [owner, this.#now(), ...(purpose === undefined ? [] : [purpose])],
        columns: ["created_at_ms", "id"],
        place: (id): SQLInputValue[] | undefined => {
          const row = this.#find(owner, id);
          return row && [row.created_at_ms, id];
        },
      });
      return { data: data.map(toFile), hasMore };
    });
  }

  async content(owner: string, id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const row = this.#db.read(() => this.#find(owner, id));
    return row && this.#chunks(row);
  }

  remove(owner: string, id: string): Promise<boolean> {
    return this.#write(
      () => this.#db.change(`DELETE FROM files WHERE id = ? AND ${isThere}`, id, owner, this.#now()) > 0,
    );
  }

  async usage(owner: string) {
    return this.#db.read(() => {
      const [row] = this.#db.all<{ files: number; bytes: number }>(
        `SELECT count(*) AS files, coalesce(sum(bytes), 0) AS bytes FROM files WHERE ${isThere}`,
        owner,
        this.#now(),
      );
      return { files: row?.files ?? 0, bytes: row?.bytes ?? 0 };
    });
  }

  async expire(beforeMs: number): Promise<number> {
    // One at a time: a large file has thousands of rows, and other writes must not wait for many of them.
    for (let total = 0; ; total += 1) {
      const removed = await this.#write(() =>
        this.#db.change(
          `DELETE FROM files WHERE key IN (SELECT key FROM files
            WHERE expires_at_ms <= ? OR (bytes IS NULL AND created_at_ms < ?) LIMIT 1)`,
          this.#now(),
          beforeMs,
        ),
      );
      if (removed === 0) return total;
    }
  }

  async *#chunks({ key, id, bytes }: FileRow): AsyncGenerator<Uint8Array, void> {
    let read = 0;
    for (let position = 0; read < bytes; position += 1) {
      const [chunk] = this.#db.read(() =>
        this.#db.all<{ data: Uint8Array }>(
          "SELECT data FROM file_chunks WHERE file_key = ? AND position = ?",
          key,
          position,
        ),
      );
      if (!chunk) throw fileRemoved(id);
      read += chunk.data.length;
      yield chunk.data;
    }
  }

  #find(owner: string, id: string): FileRow | undefined {
    const sql = `SELECT ${columns} FROM files WHERE id = ? AND ${isThere}`;
    return this.#db.all<FileRow>(sql, id, owner, this.#now())[0];
  }

  #begin({ owner, id, createdAtMs }: NewFile): number {
    if (this.#db.all("SELECT 1 FROM files WHERE owner = ? AND id = ?", owner, id).length > 0)
      throw duplicateFile(id);
    return this.#db.insert(
      "INSERT INTO files (owner, id, created_at_ms, filename, purpose) VALUES (?, ?, ?, '', '')",
      owner,
      id,
      createdAtMs,
    );
  }

  #addChunk(key: number, position: number, data: Uint8Array, id: string): void {
    if (this.#db.all("SELECT 1 FROM files WHERE key = ?", key).length === 0) throw fileRemoved(id);
    this.#db.insert(
      "INSERT INTO file_chunks (file_key, position, data) VALUES (?, ?, ?)",
      key,
      position,
      data,
    );
  }

  #write<T>(run: () => T, { isDurable }: { isDurable: boolean } = { isDurable: true }): Promise<T> {
    return this.#writer.write(run, { isDurable });
  }
}

function toFile(row: FileRow): StoredFile {
  const { owner, id, created_at_ms, expires_at_ms, filename, purpose, bytes } = row;
  return { id, owner, createdAtMs: created_at_ms, expiresAtMs: expires_at_ms, filename, purpose, bytes };
}
