// A container of the bwrap tier: a folder on this machine, and the processes that work on it.

import { renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { limitMessage, limitOutcome } from "../limit-messages.ts";
import type {
  Container,
  ContainerFile,
  ContainerRecord,
  ExecRequest,
  NetworkPolicy,
  SandboxLimits,
  SandboxMount,
} from "../sandbox.ts";
import { SandboxClosedError, SandboxLimitError } from "../sandbox-errors.ts";
import type { CgroupPlace, ContainerGroup } from "./cgroup.ts";
import { diskUsage, trimToLimits } from "./disk-usage.ts";
import type { DiskWatch } from "./disk-watch.ts";
import { type Egress, type EgressOptions, openEgress } from "./egress.ts";
import { BwrapExecution } from "./execution.ts";
import { ContainerFolder } from "./folder.ts";
import type { Launch } from "./launch.ts";
import type { OutputPipes } from "./output-pipes.ts";
import { checkRecord, readRecord, type StoredRecord, writeRecord } from "./record.ts";

/** How a tier of this machine starts the processes of its containers. */
export interface Launcher {
  /** What the tier itself takes, beyond the limits of the code. */
  readonly ownMemoryBytes: number;
  readonly ownProcesses: number;
  /** How long it may take until a process begins, which does not count as its time. */
  readonly startMs: number;
  /** Whether each process has a group of its own, because what the tier takes grows with their number. */
  readonly hasGroupPerExec: boolean;
  /** Whether processes are started as the user of the container, where this process is root. */
  readonly startsAsUser: boolean;
  /** `release` is called when the process has ended. */
  launch(launch: Launch, user: number | undefined): LaunchedProgram;
}

export interface LaunchedProgram {
  readonly program: string;
  readonly args: readonly string[];
  readonly options: readonly string[];
  readonly release?: () => void;
}

/** What a container needs of its tier. */
export interface ContainerHost {
  readonly launcher: Launcher;
  readonly filterFile: string;
  readonly systemArgs: readonly string[];
  readonly groups: CgroupPlace | undefined;
  readonly diskWatch: DiskWatch;
  readonly pipes: OutputPipes;
  /** Where lasting containers are. */
  readonly folder: string;
  /** Where file sockets are. */
  readonly temporary: string;
  readonly egress: EgressOptions;
  onClose(container: BwrapContainer): void;
  removeFolder(folder: string): Promise<void>;
}

export interface ContainerSetup {
  readonly id: string;
  readonly isNew: boolean;
  /** Has `data`, `tmp` and `container.json`. */
  readonly folder: string;
  readonly limits: SandboxLimits;
  readonly mounts: readonly SandboxMount[];
  readonly network: NetworkPolicy | undefined;
}

export class BwrapContainer implements Container {
  readonly id: string;
  readonly isNew: boolean;
  readonly limits: SandboxLimits;
  readonly #host: ContainerHost;
  readonly #setup: ContainerSetup;
  /** Whom its processes run as, where this process is root. */
  readonly #user: number | undefined;
  readonly #running = new Set<BwrapExecution>();
  readonly #files: ContainerFolder;
  #folder: string;
  #stored: StoredRecord;
  #group: ContainerGroup | undefined;
  #execs = 0;
  #proxy: Promise<Egress> | undefined;
  #stopWatch: (() => boolean) | undefined;
  /** Whether something was written that nobody counted. */
  #isUncounted = false;
  #closing: Promise<void> | undefined;
  #trimming: Promise<void> | undefined;

  constructor(host: ContainerHost, setup: ContainerSetup) {
    this.#host = host;
    this.#setup = setup;
    this.id = setup.id;
    this.isNew = setup.isNew;
    this.limits = setup.limits;
    this.#folder = setup.folder;
    this.#stored = storedRecord(setup.folder);
    this.#user = process.getuid?.() === 0 ? statSync(setup.folder).uid : undefined;
    this.#files = new ContainerFolder(() => join(this.#folder, "data"), this.#user);
  }

  get record(): ContainerRecord {
    return this.#stored.record;
  }

  /** Where its files are on this machine. */
  get folder(): string {
    return this.#folder;
  }

  async setRecord(record: ContainerRecord): Promise<void> {
    this.#checkOpen();
    const stored = { ...this.#stored, record: checkRecord(record) };
    writeRecord(this.#folder, stored);
    this.#stored = stored;
    const lasting = join(this.#host.folder, this.id);
    if (this.#folder === lasting) return;
    // Mounts follow the folder, not its path, so processes go on.
    renameSync(this.#folder, lasting);
    this.#folder = lasting;
  }

  async exec(request: ExecRequest, signal?: AbortSignal): Promise<BwrapExecution> {
    signal?.throwIfAborted();
    await this.#trimming;
    const proxySocket = await this.#startProxy();
    while (!this.#host.pipes.areReady) await this.#host.pipes.prepare();
    this.#checkOpen();
    const { limits } = this;
    const { launcher } = this.#host;
    const group = this.#groupForExec();
    const { release, ...program } = launcher.launch(
      {
        systemArgs: this.#host.systemArgs,
        folder: this.#folder,
        mounts: this.#setup.mounts,
        limits,
        request,
        proxySocket,
        countsMemory: group === undefined,
      },
      this.#user,
    );
    const execution = new BwrapExecution(
      {
        ...program,
        filterFile: this.#host.filterFile,
        user: launcher.startsAsUser ? this.#user : undefined,
        limits,
        startMs: launcher.startMs,
        request,
        group,
        pipes: this.#host.pipes.take(),
      },
      signal,
    );
    if (release) void execution.outcome.then(release);
    if (launcher.hasGroupPerExec) void execution.outcome.then(() => group?.remove());
    this.#running.add(execution);
    this.#stopWatch ??= this.#host.diskWatch.add({
      folders: () => this.#folders(),
      limits,
      pids: () => [...this.#running].flatMap((running) => running.pids()),
      onOver: () => this.#onDiskFull(),
      isCountedFirst: this.#isUncounted,
    });
    void this.#follow(execution);
    return execution;
  }

  read(path: string, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    this.#checkOpen();
    return this.#files.read(path, signal);
  }

  async write(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<ContainerFile> {
    this.#checkOpen();
    await this.#trimming;
    const used = await diskUsage(this.#folders(), this.limits);
    let bytes = used.bytes;
    const check = (more: number) => {
      bytes += more;
      if (used.isOver || bytes > this.limits.diskBytes || used.files + 1 > this.limits.files)
        throw new SandboxLimitError("disk", limitMessage("disk", this.limits));
    };
    check(0);
    return this.#files.write(path, content, check, signal);
  }

  async list(signal?: AbortSignal): Promise<readonly ContainerFile[]> {
    this.#checkOpen();
    await this.#trimming;
    return this.#files.list(this.limits.files, signal);
  }

  async remove(path: string, signal?: AbortSignal): Promise<boolean> {
    this.#checkOpen();
    signal?.throwIfAborted();
    return this.#files.remove(path);
  }

  async close({ removesFiles = false }: { readonly removesFiles?: boolean } = {}): Promise<void> {
    const isTemporary = dirname(this.#folder) !== this.#host.folder;
    this.#closing ??= this.#endProcesses();
    await this.#closing;
    if (removesFiles || isTemporary) await this.#host.removeFolder(this.#folder);
  }

  #groupForExec(): ContainerGroup | undefined {
    const { groups, launcher } = this.#host;
    const limits = {
      memoryBytes: this.limits.memoryBytes + launcher.ownMemoryBytes,
      processes: this.limits.processes + launcher.ownProcesses,
    };
    if (launcher.hasGroupPerExec) return groups?.group(`${this.id}-${this.#execs++}`, limits);
    this.#group ??= groups?.group(this.id, limits);
    return this.#group;
  }

  async #follow(execution: BwrapExecution): Promise<void> {
    await execution.outcome;
    this.#running.delete(execution);
    if (this.#running.size > 0) return;
    this.#isUncounted = this.#stopWatch?.() ?? false;
    this.#stopWatch = undefined;
  }

  async #startProxy(): Promise<string | undefined> {
    const { network } = this.#setup;
    if (network === undefined) return undefined;
    this.#proxy ??= openEgress(this.#host.temporary, { ...this.#host.egress, allow: network.allow });
    return (await this.#proxy).socketPath;
  }

  async #endProcesses(): Promise<void> {
    const lost = { type: "lost", message: "The container was closed." } as const;
    for (const execution of this.#running) execution.end(lost);
    await Promise.all([...this.#running].map(({ outcome }) => outcome));
    await this.#trimming;
    await this.#proxy?.then((proxy) => proxy.close()).catch(() => {});
    this.#group?.remove();
    this.#host.onClose(this);
  }

  /** Which of the processes wrote it cannot be told, so all end. Then nothing can turn a path into a link. */
  #onDiskFull(): void {
    for (const execution of this.#running) execution.end(limitOutcome("disk", this.limits));
    const ended = [...this.#running].map(({ outcome }) => outcome);
    this.#trimming ??= this.#trim(ended);
  }

  async #trim(ended: readonly Promise<unknown>[]): Promise<void> {
    try {
      await Promise.all(ended);
      await trimToLimits(this.#folders(), this.limits);
    } finally {
      this.#trimming = undefined;
    }
  }

  #folders(): string[] {
    return [join(this.#folder, "data"), join(this.#folder, "tmp")];
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new SandboxClosedError(`The container '${this.id}'`);
  }
}

function storedRecord(folder: string): StoredRecord {
  const stored = readRecord(folder);
  if (stored !== undefined) return stored;
  throw new Error(`The folder ${folder} is not a container, or one of a newer version.`);
}
