// The part of a store that keeps files which clients upload: for containers, and for the clients' own use.
//
// The content is written as it arrives. Until all of it is there, the file does not exist for anyone, so that a broken
// upload leaves nothing that can be seen.

import type { ListOptions, Page } from "./store.ts";

export interface StoredFile {
  readonly id: string;
  /** Who may see it. */
  readonly owner: string;
  readonly createdAtMs: number;
  /** When it ceases to exist; null for never. */
  readonly expiresAtMs: number | null;
  /** As the client named it: any text without NUL, never used as a path. */
  readonly filename: string;
  readonly purpose: string;
  /** The size of its content. */
  readonly bytes: number;
}

/** A file before its content is there. */
export type NewFile = Pick<StoredFile, "id" | "owner" | "createdAtMs">;

/** What is known of a file once all of its content is there: a form may say it after the file. */
export type FileDetails = Pick<StoredFile, "filename" | "purpose" | "expiresAtMs">;

export interface ListFilesOptions extends Omit<ListOptions, "limit"> {
  /** 1 to 10,000. */
  readonly limit: number;
  readonly purpose?: string;
}

/** What an owner keeps. */
export interface FileUsage {
  readonly files: number;
  readonly bytes: number;
}

/** All limited to an owner: what belongs to another, or has expired, does not exist. */
export interface FileStore {
  /**
   * Keeps a file with its content, durably. `details` is called once, after the last of the content. If one of them
   * throws, nothing is kept, and the error is thrown. Throws a `StoreError` with the code `duplicate_id` if the owner has
   * a file of that id.
   */
  create(file: NewFile, content: AsyncIterable<Uint8Array>, details: () => FileDetails): Promise<StoredFile>;
  get(owner: string, id: string): Promise<StoredFile | undefined>;
  /** Ordered by age. An unknown cursor is a `StoreError` with the code `unknown_cursor`. */
  list(owner: string, options: ListFilesOptions): Promise<Page<StoredFile>>;
  /**
   * The content, in pieces of at most `fileChunkBytes`; undefined if there is no such file. One that is removed while it
   * is read ends with a `StoreError` of the code `file_removed`, never early without an error.
   */
  content(owner: string, id: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Returns whether the file existed. */
  remove(owner: string, id: string): Promise<boolean>;
  /** Files that expired do not count. */
  usage(owner: string): Promise<FileUsage>;
  /** Removes files of all owners that expired, and uploads that began before `beforeMs` and did not end. Returns how many. */
  expire(beforeMs: number): Promise<number>;
}

/** The size of the pieces that stores keep a file in. */
export const fileChunkBytes = 262_144;

/** The same bytes in pieces of `fileChunkBytes`, the last one shorter. */
export async function* inFileChunks(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let chunk = new Uint8Array(fileChunkBytes);
  let used = 0;
  for await (const piece of content)
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + fileChunkBytes - used);
      chunk.set(part, used);
      used += part.length;
      at += part.length;
      if (used < fileChunkBytes) continue;
      yield chunk;
      chunk = new Uint8Array(fileChunkBytes);
      used = 0;
    }
  if (used > 0) yield chunk.subarray(0, used);
}
