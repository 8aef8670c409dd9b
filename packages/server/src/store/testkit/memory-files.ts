// The files of the reference store.

import {
  type FileDetails,
  type FileStore,
  inFileChunks,
  type ListFilesOptions,
  type NewFile,
  type StoredFile,
} from "../file-store.ts";
import { duplicateFile, fileRemoved } from "../rules.ts";
import { pageOf } from "./page.ts";

interface FileRecord {
  readonly file: StoredFile;
  readonly chunks: readonly Uint8Array[];
}

export class MemoryFiles implements FileStore {
  readonly #records = new Map<string, FileRecord>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  async create(
    file: NewFile,
    content: AsyncIterable<Uint8Array>,
    details: () => FileDetails,
  ): Promise<StoredFile> {
    const key = keyOf(file.owner, file.id);
    if (this.#records.has(key)) throw duplicateFile(file.id);
    const chunks = await Array.fromAsync(inFileChunks(content));
    const stored = { ...file, ...details(), bytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
    this.#records.set(key, { file: stored, chunks });
    return stored;
  }

  async get(owner: string, id: string): Promise<StoredFile | undefined> {
    return this.#find(owner, id)?.file;
  }

  async list(owner: string, options: ListFilesOptions) {
    const all = this.#allOf(owner).toSorted(
      (a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1),
    );
    return pageOf(all, options, {
      idOf: ({ id }) => id,
      isMatch: ({ purpose }) => options.purpose === undefined || purpose === options.purpose,
    });
  }

  async content(owner: string, id: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const record = this.#find(owner, id);
    return record && this.#chunks(record);
  }

  async remove(owner: string, id: string): Promise<boolean> {
    return this.#find(owner, id) !== undefined && this.#records.delete(keyOf(owner, id));
  }

  async usage(owner: string) {
    const all = this.#allOf(owner);
    return { files: all.length, bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  async expire(): Promise<number> {
    const old = [...this.#records].filter(([, { file }]) => !this.#isThere(file));
    for (const [key] of old) this.#records.delete(key);
    return old.length;
  }

  async *#chunks(record: FileRecord): AsyncGenerator<Uint8Array, void> {
    const { owner, id } = record.file;
    for (const chunk of record.chunks) {
      if (this.#records.get(keyOf(owner, id)) !== record) throw fileRemoved(id);
      yield chunk;
    }
  }

  #find(owner: string, id: string): FileRecord | undefined {
    const record = this.#records.get(keyOf(owner, id));
    return record && this.#isThere(record.file) ? record : undefined;
  }

  #allOf(owner: string): StoredFile[] {
    return Array.from(this.#records.values(), ({ file }) => file).filter(
      (file) => file.owner === owner && this.#isThere(file),
    );
  }

  #isThere({ expiresAtMs }: StoredFile): boolean {
    return expiresAtMs === null || expiresAtMs > this.#now();
  }
}

function keyOf(owner: string, id: string): string {
  return JSON.stringify([owner, id]);
}
