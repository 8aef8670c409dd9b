// The container of one request: which one it is, and how it comes to exist. It is made with the first call, so that a
// request whose model calls nothing costs nothing.

import type { JsonObject } from "rondo";
import { ApiError, invalidRequest } from "../../protocol/api-error.ts";
import { withCopy } from "./container-record.ts";
import { autoContainerId, type Containers, type ContainerUse, type SandboxTools } from "./containers.ts";
import type { ContainerChoice, WantedContainer } from "./definition.ts";

/** Where the files of `file_ids` come from. Throws a 404 for one that the owner does not have. */
export interface FileSource {
  get(owner: string, id: string): Promise<{ readonly filename: string }>;
  content(
    owner: string,
    id: string,
  ): Promise<{ readonly filename: string; readonly content: AsyncIterable<Uint8Array> }>;
}

export interface PlanRequest {
  readonly owner: string;
  readonly responseId: string;
  /** The items before the request's answer, oldest first. */
  readonly history: readonly JsonObject[];
}

export interface ContainerPlan {
  readonly id: string;
  /** The files that the model is told of. */
  readonly files: readonly string[];
  /** Gives the container to `work`, with the files of the request in it. `note` is for the model. */
  use<T>(work: (use: ContainerUse, note: string | undefined) => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Reads which files there are, if the container exists. */
  refresh(): Promise<void>;
}

interface NamedFile {
  readonly id: string;
  readonly path: string;
}

/** Throws an `ApiError` for a container or a file that cannot be used. `at`: the field of the request. */
export async function planContainer(
  containers: Containers,
  files: FileSource | undefined,
  choice: ContainerChoice,
  request: PlanRequest,
  at: string,
): Promise<ContainerPlan> {
  const { owner, responseId, history } = request;
  if ("id" in choice) {
    const known = await containers.get(owner, choice.id).catch(naming(at));
    return {
      id: known.id,
      files: known.record.uploads,
      use: (work, signal) => containers.use(owner, known.id, (use) => work(use, undefined), signal),
      refresh: () => containers.use(owner, known.id, (use) => use.notePaths()),
    };
  }
  const { auto } = choice;
  checkNetwork(auto, containers, at);
  const wanted = await namedFiles(owner, auto.fileIds, files, `${at}.file_ids`);
  const own = autoContainerId(owner, responseId);
  // The newest container of the history that still exists; before it, the one that a crash interrupted.
  const earlier = (await containers.find(owner, own)) ? undefined : lastContainer(history);
  const reused = earlier === undefined ? undefined : await containers.find(owner, earlier);
  const id = reused?.id ?? own;
  let note = earlier !== undefined && !reused ? expiredNote : undefined;
  let copied: Promise<void> | undefined;
  let wasThere = reused !== undefined;
  const makeSure = async () => {
    if (await containers.find(owner, id)) {
      wasThere = true;
      return;
    }
    if (wasThere) {
      note = expiredNote;
      copied = undefined;
    }
    wasThere = true;
    const { memoryLimit, allow } = auto;
    await containers.create(owner, { id, name: "auto", isAuto: true, memoryLimit, allow });
  };
  return {
    id,
    files: wanted.map(({ path }) => path),
    use: async (work, signal) => {
      await makeSure();
      return containers.use(
        owner,
        id,
        async (use) => {
          copied ??= copyFiles(use, owner, wanted, files).catch((error: unknown) => {
            copied = undefined;
            throw error;
          });
          await copied;
          const told = note;
          note = undefined;
          return work(use, told);
        },
        signal,
      );
    },
    refresh: async () => {
      if (await containers.find(owner, id)) await containers.use(owner, id, (use) => use.notePaths());
    },
  };
}

const expiredNote =
  "The container of your earlier calls is gone: it expired or was deleted, with its files and variables. This is a new one.";

/** The container of the newest call in the history. */
function lastContainer(history: readonly JsonObject[]): string | undefined {
  for (const { type, container_id: id, environment } of history.toReversed()) {
    if (type === "code_interpreter_call" && typeof id === "string" && id !== "") return id;
    const { container_id: inShell } = Object(environment ?? {}) as { container_id?: unknown };
    if (type === "shell_call" && typeof inShell === "string" && inShell !== "") return inShell;
  }
  return undefined;
}

/** Throws an error again with the field of the request that it is about. */
function naming(param: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ApiError)) throw error;
    const { message, status, code } = error;
    throw new ApiError(message, { status, code, param });
  };
}

/** A request can only be stricter than the config. */
export function checkNetwork(
  { allow }: Pick<WantedContainer, "allow">,
  containers: Containers,
  at: string,
): void {
  const { allow: allowed, tools } = containers.options;
  const refused = refusedHosts(allow ?? [], allowed, tools);
  if (refused.length === 0) return;
  const field = at === "" ? "network_policy" : `${at}.network_policy`;
  throw invalidRequest(
    `${field}.allowed_domains`,
    `${field}.allowed_domains: expected hosts that this server allows (${allowed.join(", ") || "it allows none"}), got ${refused.slice(0, 5).join(", ").slice(0, 300)}. Its operator allows hosts in the config (sandbox.network.allow).`,
    "network_not_allowed",
  );
}

function refusedHosts(
  hosts: readonly string[],
  allowed: readonly string[],
  { narrowAllowedHosts }: SandboxTools,
): readonly string[] {
  try {
    return narrowAllowedHosts(allowed, hosts).refused;
  } catch {
    return hosts; // one of them is not a host
  }
}

/** Files with the names that they get in the container. `at`: the field of the request. */
export async function namedFiles(
  owner: string,
  fileIds: readonly string[],
  files: FileSource | undefined,
  at: string,
): Promise<readonly NamedFile[]> {
  const named: NamedFile[] = [];
  for (const [index, id] of fileIds.entries()) {
    const found = await files?.get(owner, id).catch(naming(`${at}[${index}]`));
    const path = found?.filename ?? id;
    named.push({ id, path: named.some((it) => it.path === path) ? `${id}-${path}` : path });
  }
  return named;
}

/** Copies the files that are not there yet. Another file of the same name takes the place of the earlier one. */
export async function copyFiles(
  use: ContainerUse,
  owner: string,
  wanted: readonly NamedFile[],
  files: FileSource | undefined,
): Promise<void> {
  if (wanted.length === 0 || !files) return;
  const there = new Set((await use.container.list()).map(({ path }) => path));
  for (const { id, path } of wanted) {
    if (there.has(path) && use.known.record.copies.includes(id)) continue;
    const { content } = await files.content(owner, id);
    await use.container.write(path, content);
    await use.setRecord(withCopy(use.known.record, id, path));
  }
}
