// What clients can do with containers and their files.

import type { ContainerFile } from "rondo/sandbox";
import { fileId, findFile } from "../executor/sandbox/container-files.ts";
import { checkNetwork, copyFiles, type FileSource, namedFiles } from "../executor/sandbox/container-plan.ts";
import { withUpload } from "../executor/sandbox/container-record.ts";
import type { Containers, ContainerUse, KnownContainer } from "../executor/sandbox/containers.ts";
import type { SandboxHost } from "../executor/sandbox/sandbox-host.ts";
import { ApiError, invalidRequest } from "../protocol/api-error.ts";
import {
  type ContainerFileObject,
  type ContainerListQuery,
  type ContainerObject,
  parseCopyFile,
  parseCreateContainer,
} from "../protocol/container-object.ts";
import { plainFilename } from "../protocol/file-object.ts";
import type { PageQuery } from "../protocol/query.ts";
import { type ListObject, toList } from "./list-object.ts";

export interface ContainersApiOptions {
  readonly host: SandboxHost;
  readonly files: FileSource;
}

/** All methods throw an `ApiError` for the client. What belongs to another owner is a 404. */
export class ContainersApi {
  readonly #options: ContainersApiOptions;

  constructor(options: ContainersApiOptions) {
    this.#options = options;
  }

  async create(owner: string, body: unknown): Promise<ContainerObject> {
    const { files } = this.#options;
    const { name, idleMs, fileIds, memoryLimit, allow } = parseCreateContainer(body);
    const containers = await this.#containers(owner);
    const { idleMs: maxMs } = containers.options;
    if (idleMs !== undefined && idleMs > maxMs)
      throw invalidRequest(
        "expires_after.minutes",
        `expires_after.minutes: expected at most ${maxMs / 60_000}, this server's limit (sandbox.idleMs), got ${idleMs / 60_000}.`,
      );
    checkNetwork({ allow }, containers, "");
    const named = await namedFiles(owner, fileIds, files, "file_ids");
    const wanted = { name, isAuto: false, idleMs, memoryLimit, allow };
    const made = await failing(() => containers.create(owner, wanted));
    try {
      if (named.length > 0)
        await failing(() => containers.use(owner, made.id, (use) => copyFiles(use, owner, named, files)));
    } catch (error) {
      await containers.remove(owner, made.id).catch(() => {});
      throw error;
    }
    return toObject(containers, made);
  }

  async get(owner: string, id: string): Promise<ContainerObject> {
    const containers = await this.#containers(owner);
    return toObject(containers, await containers.get(owner, id));
  }

  async list(owner: string, query: ContainerListQuery): Promise<ListObject<ContainerObject>> {
    const containers = await this.#containers(owner);
    const all = await containers.list(owner);
    const named = all.filter(({ record }) => query.name === undefined || record.name === query.name);
    return page(
      named.map((it) => toObject(containers, it)),
      query,
    );
  }

  async remove(owner: string, id: string): Promise<{ id: string; object: string; deleted: true }> {
    const containers = await this.#containers(owner);
    await failing(() => containers.remove(owner, id));
    return { id, object: "container.deleted", deleted: true };
  }

  /** Puts a file that arrives into a container. */
  async upload(
    owner: string,
    id: string,
    { filename, content }: { filename: string; content: AsyncIterable<Uint8Array> },
  ): Promise<ContainerFileObject> {
    return this.#use(owner, id, async (use) => {
      const file = await use.container.write(plainFilename(filename), content);
      await use.setRecord(withUpload(use.known.record, file.path));
      return fileObject(use, file);
    });
  }

  /** Copies a file of `/v1/files` into a container. */
  async copy(owner: string, id: string, body: unknown): Promise<ContainerFileObject> {
    const source = await this.#options.files.content(owner, parseCopyFile(body));
    return this.upload(owner, id, source);
  }

  async listFiles(owner: string, id: string, query: PageQuery): Promise<ListObject<ContainerFileObject>> {
    const all = await this.#use(owner, id, async (use) => {
      const files = await use.container.list();
      const byAge = files.toSorted((a, b) => a.modifiedAtMs - b.modifiedAtMs || (a.path < b.path ? -1 : 1));
      return byAge.map((file) => fileObject(use, file));
    });
    return page(all, query);
  }

  async getFile(owner: string, id: string, file: string): Promise<ContainerFileObject> {
    return this.#use(owner, id, async (use) => fileObject(use, await findFile(use, file)));
  }

  /** Gives a file with its content to `send`. The container is in use meanwhile. */
  async sendFile(
    owner: string,
    id: string,
    file: string,
    send: (file: ContainerFileObject & { content: AsyncIterable<Uint8Array> }) => Promise<void>,
  ): Promise<void> {
    await this.#use(owner, id, async (use) => {
      const found = await findFile(use, file);
      await send({ ...fileObject(use, found), content: use.container.read(found.path) });
    });
  }

  async removeFile(
    owner: string,
    id: string,
    file: string,
  ): Promise<{ id: string; object: string; deleted: true }> {
    await this.#use(owner, id, async (use) => {
      const { path } = await findFile(use, file);
      await use.container.remove(path);
      const uploads = use.known.record.uploads.filter((it) => it !== path);
      await use.setRecord({ uploads });
    });
    return { id: file, object: "container.file.deleted", deleted: true };
  }

  #containers(owner: string): Promise<Containers> {
    return this.#options.host.containers(owner, null);
  }

  async #use<T>(owner: string, id: string, work: (use: ContainerUse) => Promise<T>): Promise<T> {
    const containers = await this.#containers(owner);
    return failing(() => containers.use(owner, id, work));
  }
}

/** Turns errors of a tier into replies: limits and odd names are the client's, a container that went away a 409. */
async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, message = "" } = Object(error) as { code?: unknown; message?: string };
    if (code === "sandbox_limit")
      throw new ApiError(message, { status: 413, code: "container_full", cause: error });
    if (code === "invalid_path") throw invalidRequest("file", message, "invalid_filename");
    if (code === "missing_file" || code === "sandbox_closed")
      throw new ApiError("The container or the file was removed while it was used.", {
        status: 409,
        code: "container_changed",
        cause: error,
      });
    throw error;
  }
}

function toObject(containers: Containers, known: KnownContainer): ContainerObject {
  const { id, createdAtMs, record } = known;
  const { name, idleMs, memoryLimit, allow } = record;
  return {
    id,
    object: "container",
    created_at: Math.floor(createdAtMs / 1000),
    last_active_at: Math.floor(containers.lastActiveAtMs(known) / 1000),
    status: "running",
    name,
    expires_after: { anchor: "last_active_at", minutes: idleMs / 60_000 },
    ...(memoryLimit !== null && { memory_limit: memoryLimit }),
    network_policy:
      allow.length === 0 ? { type: "disabled" } : { type: "allowlist", allowed_domains: [...allow] },
  };
}

function fileObject({ known }: ContainerUse, file: ContainerFile): ContainerFileObject {
  const { path, bytes, modifiedAtMs } = file;
  return {
    id: fileId(known.id, path),
    object: "container.file",
    container_id: known.id,
    created_at: Math.floor(modifiedAtMs / 1000),
    bytes,
    path: `/mnt/data/${path}`,
    source: known.record.uploads.includes(path) ? "user" : "assistant",
  };
}

/** A page of a list that is whole, oldest first. */
function page<T extends { id: string }>(
  all: readonly T[],
  { limit, order, after }: Pick<PageQuery, "limit" | "order"> & { after?: string },
): ListObject<T> {
  const inOrder = order === "asc" ? all : all.toReversed();
  const at = after === undefined ? -1 : inOrder.findIndex(({ id }) => id === after);
  if (after !== undefined && at < 0)
    throw invalidRequest(
      "after",
      `after: expected an id of this list, got ${JSON.stringify(after.slice(0, 100))}, which is not there (any more).`,
    );
  const rest = inOrder.slice(at + 1);
  return toList({ data: rest.slice(0, limit), hasMore: rest.length > limit });
}
