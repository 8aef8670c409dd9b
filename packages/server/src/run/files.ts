// What clients can do with files: upload, read, list and delete them.

import { ApiError, notFound } from "../protocol/api-error.ts";
import {
  type FileListQuery,
  type FileObject,
  parseFileFields,
  plainFilename,
} from "../protocol/file-object.ts";
import { newId } from "../protocol/ids.ts";
import type { FileStore, StoredFile } from "../store/file-store.ts";
import type { Store } from "../store/store.ts";
import { type ListObject, toCursorError, toList } from "./list-object.ts";
import { keepsNothing } from "./prepare.ts";

export interface FileLimits {
  /** How many files an owner may keep. */
  readonly filesPerOwner: number;
  /** How many bytes they may have together. */
  readonly fileBytesPerOwner: number;
}

export interface FilesOptions {
  readonly store: Pick<Store, "files" | "keepsNothing">;
  readonly limits: FileLimits;
  /** Default: `Date.now`. */
  readonly now?: () => number;
}

/** A file that arrives. */
export interface Upload {
  readonly filename: string;
  readonly content: AsyncIterable<Uint8Array>;
  /** Complete when the content was read. */
  readonly fields: ReadonlyMap<string, string>;
}

interface Arriving {
  files: number;
  bytes: number;
}

/** All methods throw an `ApiError` for the client. What belongs to another owner is a 404. */
export class Files {
  readonly #options: FilesOptions;
  readonly #now: () => number;
  /** Uploads that are on their way, by owner. */
  readonly #arriving = new Map<string, Arriving>();

  constructor(options: FilesOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  async create(owner: string, { filename, content, fields }: Upload): Promise<FileObject> {
    const files = this.#store();
    const createdAtMs = this.#now();
    const file = { id: newId("file"), owner, createdAtMs };
    const arriving = this.#arriving.get(owner) ?? { files: 0, bytes: 0 };
    this.#arriving.set(owner, arriving);
    arriving.files += 1;
    let own = 0;
    const count = (bytes: number) => {
      own += bytes;
      arriving.bytes += bytes;
      return arriving;
    };
    try {
      const kept = await files.create(file, this.#metered(owner, files, content, count), () => {
        const { purpose, lifeMs } = parseFileFields(fields);
        return {
          filename: plainFilename(filename),
          purpose,
          expiresAtMs: lifeMs === undefined ? null : createdAtMs + lifeMs,
        };
      });
      return toObject(kept);
    } finally {
      // Only now, when it is kept or gone: in between it would count nowhere.
      arriving.files -= 1;
      arriving.bytes -= own;
      if (arriving.files === 0) this.#arriving.delete(owner);
    }
  }

  async get(owner: string, id: string): Promise<FileObject> {
    return toObject(await this.#find(owner, id));
  }

  async list(owner: string, query: FileListQuery): Promise<ListObject<FileObject>> {
    const { data, hasMore } = await this.#store().list(owner, query).catch(toCursorError);
    return toList({ data: data.map(toObject), hasMore });
  }

  /** The file with its content. */
  async content(owner: string, id: string): Promise<FileObject & { content: AsyncIterable<Uint8Array> }> {
    const file = await this.#find(owner, id);
    const content = await this.#store().content(owner, id);
    if (!content) throw unknown(id);
    return { ...toObject(file), content };
  }

  async remove(owner: string, id: string): Promise<{ id: string; object: "file"; deleted: true }> {
    if (!(await this.#store().remove(owner, id))) throw unknown(id);
    return { id, object: "file", deleted: true };
  }

  async #find(owner: string, id: string): Promise<StoredFile> {
    const file = await this.#store().get(owner, id);
    if (!file) throw unknown(id);
    return file;
  }

  /** Content that is counted while it arrives. Throws a 413 when its owner has too much. */
  async *#metered(
    owner: string,
    files: FileStore,
    content: AsyncIterable<Uint8Array>,
    count: (bytes: number) => Arriving,
  ) {
    const { filesPerOwner, fileBytesPerOwner } = this.#options.limits;
    let kept = await files.usage(owner);
    const check = (arriving: Arriving) => {
      if (kept.files + arriving.files > filesPerOwner)
        throw tooMuch(`You have ${kept.files} files`, "limits.filesPerOwner");
      if (kept.bytes + arriving.bytes > fileBytesPerOwner)
        throw tooMuch(`Your files would exceed ${fileBytesPerOwner} bytes`, "limits.fileBytesPerOwner");
    };
    check(count(0));
    for await (const piece of content) {
      check(count(piece.length));
      yield piece;
    }
    // Uploads that were faster count by now as files that are kept.
    kept = await files.usage(owner);
    check(count(0));
  }

  #store(): FileStore {
    const { files, keepsNothing: isWithout } = this.#options.store;
    if (isWithout) throw keepsNothing(null, "files");
    if (files) return files;
    throw new ApiError("The store of this server keeps no files.", {
      status: 501,
      code: "files_unsupported",
    });
  }
}

function toObject(file: StoredFile): FileObject {
  const { id, bytes, createdAtMs, expiresAtMs, filename, purpose } = file;
  return {
    id,
    object: "file",
    bytes,
    created_at: Math.floor(createdAtMs / 1000),
    ...(expiresAtMs !== null && { expires_at: Math.floor(expiresAtMs / 1000) }),
    filename,
    purpose,
    status: "processed",
  };
}

function tooMuch(what: string, setting: string): ApiError {
  return new ApiError(`${what}, this server's limit for one owner (${setting}). Delete files.`, {
    status: 413,
    code: "file_limit_reached",
    param: "file",
  });
}

function unknown(id: string): ApiError {
  return notFound(`File with id '${id}' not found.`, "file_not_found", "file_id");
}
