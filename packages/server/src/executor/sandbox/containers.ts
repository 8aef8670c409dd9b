// The containers of all owners: made, found, used, expired and removed. The executors run code in them, and
// `/v1/containers` shows them.

import { createHash } from "node:crypto";
import type {
  ContainerPool,
  Interpreter,
  narrowAllowedHosts,
  OpenOptions,
  openInterpreter,
  plainText,
  readExecution,
  Sandbox,
  SandboxLimits,
  SandboxMount,
} from "rondo/sandbox";
import { notFound, tooManyRequests } from "../../protocol/api-error.ts";
import { memoryBytes } from "../../protocol/container-object.ts";
import { newId } from "../../protocol/ids.ts";
import { type OpenContainer, ContainerPool as OpenContainers } from "./container-pool.ts";
import { readRecord, type ServerRecord, toRecord } from "./container-record.ts";

/** What `rondo/sandbox` has for containers of any tier. It is loaded with the first of them. */
export interface SandboxTools {
  readonly ContainerPool: typeof ContainerPool;
  readonly openInterpreter: typeof openInterpreter;
  readonly plainText: typeof plainText;
  readonly readExecution: typeof readExecution;
  readonly narrowAllowedHosts: typeof narrowAllowedHosts;
}

export interface ContainersOptions {
  readonly sandbox: Sandbox;
  readonly tools: SandboxTools;
  readonly language: "python" | "javascript";
  readonly limits: SandboxLimits;
  /** The hosts that code may reach. */
  readonly allow: readonly string[];
  readonly mounts: readonly SandboxMount[];
  /** How long a container may be idle, and the most that a client may ask for. */
  readonly idleMs: number;
  readonly containersPerOwner: number;
  /** How many containers have processes at once. */
  readonly openContainers: number;
  /** How many wait besides, with a started interpreter, for the first call. */
  readonly warmContainers: number;
  /** Whether other nodes have containers of their own, which this one cannot use. Default: false. */
  readonly hasOtherNodes?: boolean;
  /** Removes a container that nobody asked to remove; `remove` says whether it did. Default: it just is. */
  readonly expire?: (container: ExpiringContainer, remove: () => Promise<boolean>) => Promise<void>;
  readonly onWarning: (message: string) => void;
  /** Default: `Date.now`. */
  readonly now?: () => number;
}

/** A container that was idle for too long, or makes room for another one of its owner. */
export interface ExpiringContainer {
  readonly id: string;
  readonly owner: string;
}

export interface KnownContainer {
  readonly id: string;
  readonly createdAtMs: number;
  readonly record: ServerRecord;
}

export interface NewContainer {
  /** Default: a new one. */
  readonly id?: string;
  readonly name: string;
  readonly isAuto: boolean;
  /** Default: the most that is allowed. */
  readonly idleMs?: number | undefined;
  readonly memoryLimit: string | null;
  /** Default: all that the config allows. */
  readonly allow?: readonly string[] | undefined;
}

/** A container in use. */
export interface ContainerUse extends OpenContainer {
  readonly known: KnownContainer;
  /** Whether the interpreter before this one is gone, with its variables. Asked once: then it counts as told. */
  openInterpreter(): Promise<{ interpreter: Interpreter; isNewAfterLoss: boolean }>;
  setRecord(change: Partial<ServerRecord>): Promise<void>;
  /** Reads which files there are, for `pathsOf()`. */
  notePaths(): Promise<void>;
}

interface Entry extends KnownContainer {
  /** Its id at the tier: another one if it was warm before anybody asked for it. */
  tierId: string;
  record: ServerRecord;
  lastActiveAtMs: number;
  paths?: readonly string[];
}

const sweepMs = 30_000;
const writeActivityMs = 60_000;

/** The id of the container that a response makes for itself: the same after a crash. */
export function autoContainerId(owner: string, responseId: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify(["container", owner, responseId]))
    .digest("hex");
  return `cntr_${digest.slice(0, 32)}`;
}

/** Methods with an owner throw a 404 for what belongs to another one. */
export class Containers {
  readonly options: ContainersOptions;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #creating = new Map<string, Promise<Entry>>();
  readonly #removing = new Map<string, Promise<void>>();
  readonly #pool: OpenContainers;
  readonly #warm: ContainerPool | undefined;
  #loading: Promise<void> | undefined;
  #loadedAtMs = Number.NEGATIVE_INFINITY;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: ContainersOptions) {
    this.options = options;
    this.#now = options.now ?? Date.now;
    this.#pool = new OpenContainers({ size: options.openContainers, now: this.#now });
    const { sandbox, language, warmContainers: size } = options;
    if (size > 0)
      this.#warm = new options.tools.ContainerPool({
        sandbox,
        size,
        language,
        open: this.#openOptions(options.allow, null),
        newId: () => newId("cntr"),
      });
  }

  /** Starts the warm containers, if they are not there. */
  warmUp(): void {
    this.#warm?.fill().catch(() => {}); // whoever opens a container sees why
  }

  /** The container, if it is this owner's and has not expired. */
  async find(owner: string, id: string): Promise<KnownContainer | undefined> {
    if (!/^[\w-]{1,64}$/.test(id)) return undefined;
    // Another process may have made it.
    if (!this.#entries.has(id)) await this.#load();
    const entry = this.#entries.get(id);
    return entry?.record.owner === owner && !this.#isExpired(entry) ? entry : undefined;
  }

  async get(owner: string, id: string): Promise<KnownContainer> {
    const found = await this.find(owner, id);
    if (found) return found;
    const elsewhere = this.options.hasOtherNodes
      ? " Or another node of this server has it: a container can only be used at the node that made it (docs/scaling.md)."
      : "";
    throw notFound(
      `Container with id '${id.slice(0, 100)}' not found. It was deleted, expired after its idle time, or does not exist.${elsewhere} Create another one.`,
      "container_not_found",
      "container_id",
    );
  }

  /** Oldest first. */
  async list(owner: string): Promise<readonly KnownContainer[]> {
    await this.#load();
    return this.#ownedBy(owner).toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  }

  /** Makes a container. An owner with too many loses an idle one that a request made, or gets a 429. */
  async create(owner: string, wanted: NewContainer): Promise<KnownContainer> {
    const id = wanted.id ?? newId("cntr");
    const running = this.#creating.get(id) ?? this.#create(owner, id, wanted);
    this.#creating.set(id, running);
    try {
      return await running;
    } finally {
      this.#creating.delete(id);
    }
  }

  /** When it was used last. */
  lastActiveAtMs({ id, record }: KnownContainer): number {
    return this.#entries.get(id)?.lastActiveAtMs ?? record.lastActiveAtMs;
  }

  /** The files that it had when somebody looked last. */
  pathsOf(id: string): readonly string[] {
    return this.#entries.get(id)?.paths ?? [];
  }

  /** Gives a container to `work`. It does not expire meanwhile. */
  async use<T>(
    owner: string,
    id: string,
    work: (use: ContainerUse) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    await this.get(owner, id);
    const entry = this.#entries.get(id) as Entry;
    this.#touch(entry);
    try {
      return await this.#pool.use(
        id,
        () => this.#open(entry),
        (open) => work(this.#useOf(entry, open)),
        signal,
      );
    } finally {
      await this.#noteActivity(entry);
    }
  }

  /** Removes a container with its files, and ends what runs in it. */
  async remove(owner: string, id: string): Promise<void> {
    await this.get(owner, id);
    await this.#remove(id);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await this.#warm?.close();
    await this.#pool.close();
    await this.options.sandbox.close();
  }

  #ownedBy(owner: string): readonly Entry[] {
    return [...this.#entries.values()].filter(
      (entry) => entry.record.owner === owner && !this.#isExpired(entry),
    );
  }

  async #create(owner: string, id: string, wanted: NewContainer): Promise<Entry> {
    do {
      await this.#makeRoom(owner);
      await this.#removing.get(id); // a request may make its container again
    } while (this.#ownedBy(owner).length >= this.options.containersPerOwner); // others were made meanwhile
    const { idleMs, allow } = this.options;
    const now = this.#now();
    const entry: Entry = {
      id,
      tierId: id,
      createdAtMs: now,
      lastActiveAtMs: now,
      record: {
        version: 1,
        owner,
        name: wanted.name,
        isAuto: wanted.isAuto,
        idleMs: Math.min(wanted.idleMs ?? idleMs, idleMs),
        lastActiveAtMs: now,
        memoryLimit: wanted.memoryLimit,
        allow: wanted.allow ?? allow,
        uploads: [],
        copies: [],
        hasRunCode: false,
      },
    };
    this.#entries.set(id, entry);
    try {
      await this.#pool.use(
        id,
        () => this.#openNew(entry),
        async () => {},
        undefined,
      );
    } catch (error) {
      this.#entries.delete(id);
      throw error;
    }
    this.#startSweeping();
    return entry;
  }

  async #makeRoom(owner: string): Promise<void> {
    const { containersPerOwner } = this.options;
    const own = await this.list(owner);
    if (own.length < containersPerOwner) return;
    const [oldest] = own
      .filter(({ id, record }) => record.isAuto && !this.#pool.isBusy(id) && !this.#creating.has(id))
      .toSorted((a, b) => this.lastActiveAtMs(a) - this.lastActiveAtMs(b));
    if (!oldest)
      throw tooManyRequests(
        `You have ${own.length} containers, this server's limit for one owner (sandbox.containersPerOwner). Delete one, or wait until one expires.`,
      );
    await this.#expire(oldest);
  }

  async #openNew(entry: Entry): Promise<OpenContainer> {
    const isPlain = entry.record.allow === this.options.allow && entry.record.memoryLimit === null;
    if (!isPlain || !this.#warm?.size) return this.#open(entry);
    const { container, interpreter } = await this.#warm.take();
    entry.tierId = container.id;
    entry.record = { ...entry.record, id: entry.id };
    try {
      await container.setRecord(toRecord(entry.record)); // now it lasts
    } catch (error) {
      await container.close({ removesFiles: true });
      throw error;
    }
    return { container, interpreter: Promise.resolve(interpreter) };
  }

  async #open({ tierId, record }: Entry): Promise<OpenContainer> {
    const options = this.#openOptions(record.allow, record.memoryLimit);
    const container = await this.options.sandbox.open({ ...options, id: tierId, record: toRecord(record) });
    return { container, interpreter: undefined };
  }

  #openOptions(allow: readonly string[], memoryLimit: string | null): OpenOptions {
    const { limits, mounts } = this.options;
    const most = memoryBytes(memoryLimit) ?? Number.POSITIVE_INFINITY;
    return {
      limits: { ...limits, memoryBytes: Math.min(limits.memoryBytes, most) },
      ...(allow.length > 0 && { network: { allow } }),
      mounts,
    };
  }

  #useOf(entry: Entry, open: OpenContainer): ContainerUse {
    const setRecord = async (change: Partial<ServerRecord>) => {
      entry.record = { ...entry.record, ...change, lastActiveAtMs: this.#now() };
      await open.container.setRecord(toRecord(entry.record));
    };
    return {
      container: open.container,
      interpreter: open.interpreter,
      known: entry,
      setRecord,
      notePaths: async () => {
        entry.paths = (await open.container.list()).map(({ path }) => path);
      },
      openInterpreter: async () => {
        const running = await open.interpreter?.catch(() => undefined);
        const noteRun = async () => {
          if (!entry.record.hasRunCode) await setRecord({ hasRunCode: true });
        };
        if (running?.isAlive) {
          await noteRun();
          return { interpreter: running, isNewAfterLoss: false };
        }
        const isNewAfterLoss = entry.record.hasRunCode;
        const { tools, language } = this.options;
        open.interpreter = tools.openInterpreter(open.container, { language });
        const interpreter = await open.interpreter;
        await noteRun();
        return { interpreter, isNewAfterLoss };
      },
    };
  }

  #touch(entry: Entry): void {
    entry.lastActiveAtMs = this.#now();
  }

  /** The idle time counts from here, and after a restart from the last time that was written. */
  async #noteActivity(entry: Entry): Promise<void> {
    this.#touch(entry);
    if (entry.lastActiveAtMs - entry.record.lastActiveAtMs < writeActivityMs) return;
    if (this.#entries.get(entry.id) !== entry) return;
    entry.record = { ...entry.record, lastActiveAtMs: entry.lastActiveAtMs };
    const write = ({ container }: OpenContainer) => container.setRecord(toRecord(entry.record));
    await this.#pool
      .use(entry.id, () => this.#open(entry), write, undefined)
      .catch((error: unknown) => this.options.onWarning(`A container's record: ${String(error)}`));
  }

  #isExpired({ id, record, lastActiveAtMs }: Entry): boolean {
    return lastActiveAtMs + record.idleMs <= this.#now() && !this.#pool.isBusy(id);
  }

  async #expire({ id, record: { owner } }: KnownContainer): Promise<void> {
    const remove = async () => {
      if (this.#pool.isBusy(id)) return false; // it was needed meanwhile
      await this.#remove(id);
      return true;
    };
    await (this.options.expire ? this.options.expire({ id, owner }, remove) : remove());
  }

  async #remove(id: string): Promise<void> {
    const tierId = this.#entries.get(id)?.tierId ?? id;
    this.#entries.delete(id);
    this.#pool.forget(id);
    const removed = this.options.sandbox.remove(tierId).finally(() => this.#removing.delete(id));
    this.#removing.set(id, removed);
    await removed;
  }

  /** Reads which containers the tier has: at most once a second. */
  async #load(): Promise<void> {
    if (this.#now() - this.#loadedAtMs < 1000) return;
    this.#loading ??= this.#read().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  async #read(): Promise<void> {
    // What is made while the tier lists is not missing.
    const earlier = [...this.#entries.keys()].filter((id) => !this.#creating.has(id));
    const stored = (await this.options.sandbox.containers()).map((it) => ({
      ...it,
      tierId: it.id,
      record: readRecord(it.record),
    }));
    this.#loadedAtMs = this.#now();
    const there = new Set(stored.map(({ tierId, record }) => record?.id ?? tierId));
    for (const id of earlier)
      if (!there.has(id) && !this.#creating.has(id) && !this.#pool.isBusy(id)) {
        this.#entries.delete(id);
        this.#pool.forget(id);
      }
    for (const { tierId, createdAtMs, record } of stored) {
      if (!record) continue;
      const id = record.id ?? tierId;
      const known = this.#entries.get(id);
      if (this.#removing.has(id)) continue;
      // Another process may have used it since.
      if (known) known.lastActiveAtMs = Math.max(known.lastActiveAtMs, record.lastActiveAtMs);
      else this.#entries.set(id, { id, tierId, createdAtMs, record, lastActiveAtMs: record.lastActiveAtMs });
    }
    if (this.#entries.size > 0) this.#startSweeping();
  }

  #startSweeping(): void {
    this.#sweeper ??= setInterval(() => void this.sweep(), sweepMs).unref();
  }

  /** Removes the containers that expired. Returns how many. */
  async sweep(): Promise<number> {
    try {
      await this.#load();
      const expired = [...this.#entries.values()].filter((entry) => this.#isExpired(entry));
      for (const entry of expired) await this.#expire(entry);
      return expired.length;
    } catch (error) {
      this.options.onWarning(`Expired containers could not be removed: ${String(error)}`);
      return 0;
    }
  }
}
