// The contract of a sandbox: a tier (bwrap, runsc, Kubernetes, one of your own) makes containers, and code runs in them.

/** A tier: makes containers in which code of a model can do no harm. `describeSandbox()` tests one. */
export interface Sandbox {
  /** The kind of tier: `bwrap`, `runsc`, `kubernetes`, or a name of your own. */
  readonly kind: string;
  /**
   * Tries out whether the tier protects on this machine. A tier runs nothing before its probes held once: `open` runs
   * them if nobody did, and rejects with a `SandboxUnavailableError` where one fails.
   */
  check(signal?: AbortSignal): Promise<SandboxCheck>;
  /**
   * Makes a container, or attaches to the files of an existing one of this id. The processes of a container end with
   * the tier; its files stay until `remove()`.
   */
  open(options: OpenOptions): Promise<Container>;
  /** The containers that exist, open or not, in no particular order. */
  containers(signal?: AbortSignal): Promise<readonly StoredContainer[]>;
  /** Ends the processes of a container, and removes its files and its record. Does nothing if there is none. */
  remove(id: string, signal?: AbortSignal): Promise<void>;
  /** Ends all processes. The files of the containers stay. */
  close(): Promise<void>;
}

/** What the probes of a tier found. */
export interface SandboxCheck {
  /** Whether every required probe held. */
  readonly isAvailable: boolean;
  readonly probes: readonly SandboxProbe[];
}

export interface SandboxProbe {
  /** A short name: `user_namespaces`, `no_network`, `memory_limit`. */
  readonly name: string;
  readonly holds: boolean;
  /** Whether the tier refuses to run without it. The others only weaken a limit, which `detail` explains. */
  readonly isRequired: boolean;
  /** What was tried and what came of it, as a sentence. */
  readonly detail: string;
  /** What to do where it does not hold, as a sentence. */
  readonly remedy?: string;
}

export interface OpenOptions {
  /** 1 to 64 letters, digits, `_` and `-`. Default: a new random one. */
  readonly id?: string;
  /** Default: the limits of the tier, and for fields that are missing `defaultLimits`. */
  readonly limits?: Partial<SandboxLimits>;
  /** What the code may reach. Default: nothing, not even the host. */
  readonly network?: NetworkPolicy;
  /** Folders of the host that the code sees. Tiers that cannot mount refuse them. Default: none. */
  readonly mounts?: readonly SandboxMount[];
  /**
   * A small JSON object (16 KB) that is stored with the container: owner, name, expiry. Written only when the
   * container is new; `setRecord()` changes it. Default: `{}`.
   */
  readonly record?: ContainerRecord;
  /**
   * Whether a new container is removed with all its files when it is closed, or when this process ends, however it
   * does. `setRecord()` makes it a lasting one. `containers()` does not list it before. Default: false.
   */
  readonly isTemporary?: boolean;
  readonly signal?: AbortSignal;
}

/** What the user of a tier stores with a container. */
export type ContainerRecord = Readonly<Record<string, unknown>>;

/** Limits of one container. Reaching one ends the process with an outcome of that name. */
export interface SandboxLimits {
  /** Memory of all processes together. Default: 512 MiB. */
  readonly memoryBytes: number;
  /** CPU time of one exec, all its processes together; for an interpreter, of one call. Default: 60,000. */
  readonly cpuMs: number;
  /** Time of one exec. Default: 60,000. */
  readonly timeoutMs: number;
  /** Processes and threads at the same time. Default: 64. */
  readonly processes: number;
  /** All files of the container together. Default: 512 MiB. */
  readonly diskBytes: number;
  /** Number of files and folders of the container. Default: 10,000. */
  readonly files: number;
  /** stdout and stderr of one exec together; for an interpreter, of one call. Default: 1 MiB. */
  readonly outputBytes: number;
}

/** Hosts that the code may connect to, through a proxy that guards private addresses. */
export interface NetworkPolicy {
  /** Names of hosts: `pypi.org`, `*.example.com`; a port after a colon, else 80 and 443. */
  readonly allow: readonly string[];
}

export interface SandboxMount {
  /** An absolute path on the host. */
  readonly source: string;
  /** An absolute path in the container, outside `/mnt/data` and the system's folders. */
  readonly target: string;
  /** Default: false. */
  readonly isWritable?: boolean;
}

/** A container as `containers()` lists it. */
export interface StoredContainer {
  readonly id: string;
  readonly record: ContainerRecord;
  readonly createdAtMs: number;
  /** Whether this tier has it open. */
  readonly isOpen: boolean;
}

/**
 * Files in `/mnt/data`, and processes that work on them. Paths of files are relative to that folder, or absolute inside
 * it; a path that leaves it, also through a link, is refused with an `InvalidPathError`. File operations that reach a
 * limit reject with a `SandboxLimitError`.
 */
export interface Container {
  readonly id: string;
  /** Whether `open` made it, rather than found it. */
  readonly isNew: boolean;
  readonly limits: SandboxLimits;
  readonly record: ContainerRecord;
  /** Replaces the record. A temporary container becomes a lasting one. */
  setRecord(record: ContainerRecord): Promise<void>;
  /**
   * Starts a process in `/mnt/data`. Processes of one container share files and limits, but may not see each other.
   * Rejects only if it cannot be started at all; what happens later is the outcome.
   */
  exec(request: ExecRequest, signal?: AbortSignal): Promise<Execution>;
  /** The content of a file. Rejects on the first read with a `MissingFileError` if there is none. */
  read(path: string, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Writes a file, and the folders above it. Other readers see the old file or the new one. */
  write(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<ContainerFile>;
  /** All regular files, in the order of their paths; at most `limits.files`. */
  list(signal?: AbortSignal): Promise<readonly ContainerFile[]>;
  /** Removes a file, or a folder with its content. Returns whether there was one. */
  remove(path: string, signal?: AbortSignal): Promise<boolean>;
  /** Ends its processes. The files stay unless `removesFiles`. Closing twice does nothing. */
  close(options?: { readonly removesFiles?: boolean }): Promise<void>;
}

export interface ContainerFile {
  /** Relative to `/mnt/data`, with `/` between names. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAtMs: number;
}

export interface ExecRequest {
  /** A program and its arguments. The program is looked up in the container's PATH. */
  readonly command: readonly [string, ...string[]];
  /** The standard input. Default: empty. With `"open"`, `Execution.write()` writes to it. */
  readonly input?: Uint8Array | AsyncIterable<Uint8Array> | "open";
  /** A folder in the container, relative to `/mnt/data`. Default: `/mnt/data`. */
  readonly cwd?: string;
  /** Variables besides the tier's own (PATH, HOME, LANG, TMPDIR). Nothing of the host's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: that of the container's limits. `Infinity` for a process that serves many calls. */
  readonly timeoutMs?: number;
  /** Default: that of the container's limits. `Infinity` for a process that serves many calls. */
  readonly maxOutputBytes?: number;
}

/**
 * A process that runs. Iterating gives its output as it comes; the process waits while nobody reads more. Leaving the
 * iteration cancels it. Iterate once.
 */
export interface Execution extends AsyncIterable<OutputChunk> {
  /** How it ended. Never rejects. Settles only when no process of it is left. */
  readonly outcome: Promise<Outcome>;
  /** Writes to the standard input, if `input` is `"open"`. Resolves when the process may take more, also if it ended. */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes the standard input. */
  end(): void;
  /** Starts the CPU time anew, for a process that serves many calls: each has the limit. */
  renewCpu(): void;
  /** Ends it and all its processes, whatever they do with signals. */
  cancel(): void;
}

export interface OutputChunk {
  readonly from: "stdout" | "stderr";
  readonly bytes: Uint8Array;
}

/** A limit that ended something, by the name of its outcome. */
export type LimitName = "timeout" | "cpu" | "memory" | "processes" | "disk" | "output";

/** How a process ended. */
export type Outcome =
  | { readonly type: "exit"; readonly code: number }
  /** Ended by a signal of its own making: `SIGSEGV`, `SIGABRT`. */
  | { readonly type: "signal"; readonly signal: string }
  /** Ended because a limit was reached. `message` is for the model. */
  | { readonly type: LimitName; readonly message: string }
  /** By the signal of the caller, `cancel()`, or because the iteration was left. */
  | { readonly type: "cancelled" }
  /** The container went away beneath it: closed, its node died, the connection broke. */
  | { readonly type: "lost"; readonly message: string };
