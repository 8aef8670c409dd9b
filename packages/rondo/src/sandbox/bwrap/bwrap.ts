// The bwrap tier: each process in namespaces of its own, made by bubblewrap, with a system that it can only read.

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { checkName, checkOptions, requireValue } from "../../error/check.ts";
import { completeLimits } from "../limits.ts";
import { parseAllowedHosts } from "../network/allowed-hosts.ts";
import type {
  OpenOptions,
  Sandbox,
  SandboxCheck,
  SandboxLimits,
  SandboxProbe,
  StoredContainer,
} from "../sandbox.ts";
import { SandboxClosedError, SandboxUnavailableError } from "../sandbox-errors.ts";
import { BwrapContainer, type ContainerHost, type Launcher } from "./container.ts";
import type { EgressOptions } from "./egress.ts";
import { bwrapArguments } from "./execution.ts";
import { checkMounts, launchArguments, ownProcesses } from "./launch.ts";
import { makeContainerFolder } from "./make-folder.ts";
import { type PreparedHost, prepareHost } from "./prepare.ts";
import { type ProbeOptions, probeHost } from "./probes.ts";
import { checkRecord, readRecord } from "./record.ts";
import { removeTree } from "./remove-tree.ts";
import { defaultFolder } from "./state-folder.ts";

export interface BwrapOptions {
  /**
   * Where the files of containers are. Default: `/var/lib/rondo/sandbox` for root, else `rondo/sandbox` in
   * `$XDG_STATE_HOME` or `~/.local/state`. Where this process is root, containers run as users without a name, who must
   * be able to enter the folders above it.
   */
  readonly folder?: string;
  /** The limits of containers that are opened without. Default: `defaultLimits`. */
  readonly limits?: Partial<SandboxLimits>;
  /** Whether to use control groups where they can be had. Default: true. */
  readonly usesCgroups?: boolean;
  /** Options of the proxies that containers with a network go through. Default: those of `EgressProxy`. */
  readonly egress?: EgressOptions;
  /** The program. Default: `bwrap` in the system's folders. */
  readonly program?: string;
}

/** A sandbox on this machine, by bubblewrap. Linux only. Runs nothing until its probes held. */
export function bwrap(options: BwrapOptions = {}): Sandbox {
  checkOptions("options", options, ["folder", "limits", "usesCgroups", "egress", "program"]);
  return new LocalSandbox(options, {
    kind: "bwrap",
    launcher: ({ program }) => ({
      ownMemoryBytes: 0,
      ownProcesses,
      startMs: 0,
      hasGroupPerExec: false,
      startsAsUser: true,
      launch: (launch) => {
        const { options: args, command } = launchArguments(launch);
        return { program, args: bwrapArguments(command), options: args };
      },
    }),
    probe: probeHost,
  });
}

/** What differs between the tiers of this machine. */
export interface LocalTier {
  readonly kind: string;
  readonly launcher: (host: PreparedHost) => Launcher;
  readonly probe: (options: ProbeOptions) => Promise<SandboxProbe[]>;
}

/** A tier whose containers are folders of this machine. */
export class LocalSandbox implements Sandbox {
  readonly kind: string;
  readonly #options: BwrapOptions;
  readonly #tier: LocalTier;
  readonly #limits: SandboxLimits;
  readonly #open = new Map<string, BwrapContainer>();
  #host: Promise<PreparedHost> | undefined;
  #check: Promise<SandboxCheck> | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: BwrapOptions, tier: LocalTier) {
    this.kind = tier.kind;
    this.#options = options;
    this.#tier = tier;
    this.#limits = completeLimits(options.limits, undefined, "options.limits");
  }

  check(_signal?: AbortSignal): Promise<SandboxCheck> {
    this.#checkOpen();
    this.#check ??= this.#probe();
    return this.#check;
  }

  async open(options: OpenOptions = {}): Promise<BwrapContainer> {
    options.signal?.throwIfAborted();
    const id = options.id === undefined ? randomBytes(12).toString("hex") : checkName("id", options.id);
    const limits = completeLimits(options.limits, this.#limits);
    const record = checkRecord(options.record ?? {});
    const mounts = checkMounts(options.mounts ?? []);
    // Throws for what is not a pattern of hosts.
    if (options.network !== undefined) parseAllowedHosts("network.allow", options.network.allow);
    const check = await this.check(options.signal);
    if (!check.isAvailable) throw new SandboxUnavailableError(this.kind, check.probes);
    options.signal?.throwIfAborted();
    const host = await this.#prepared();
    this.#checkOpen();
    requireValue(!this.#open.has(id), "id", "the id of a container that is not open", id);
    const lasting = join(host.containers, id);
    const isNew = !existsSync(lasting);
    const folder = options.isTemporary && isNew ? join(host.temporary, id) : lasting;
    if (isNew) makeContainerFolder(folder, host.temporary, record);
    const container = new BwrapContainer(this.#hostFor(host), {
      id,
      isNew,
      folder,
      limits,
      mounts,
      network: options.network,
    });
    this.#open.set(id, container);
    return container;
  }

  async containers(): Promise<readonly StoredContainer[]> {
    const { containers } = await this.#prepared();
    return readdirSync(containers).flatMap((id) => {
      const stored = readRecord(join(containers, id));
      if (stored === undefined) return [];
      const { record, createdAtMs } = stored;
      return [{ id, record, createdAtMs, isOpen: this.#open.has(id) }];
    });
  }

  async remove(id: string): Promise<void> {
    checkName("id", id);
    const host = await this.#prepared();
    await this.#open.get(id)?.close({ removesFiles: true });
    await removeTree(join(host.containers, id));
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    if (this.#host === undefined) return;
    const host = await this.#host;
    await Promise.all([...this.#open.values()].map((container) => container.close()));
    await host.janitor.finish();
  }

  #prepared(): Promise<PreparedHost> {
    this.#checkOpen();
    this.#host ??= prepareHost({
      kind: this.kind,
      folder: this.#options.folder ?? defaultFolder(),
      program: this.#options.program,
      usesCgroups: this.#options.usesCgroups ?? true,
    });
    return this.#host;
  }

  async #probe(): Promise<SandboxCheck> {
    const probes = await this.#tier.probe({
      folder: this.#options.folder ?? defaultFolder(),
      program: this.#options.program,
      prepare: () => this.#prepared(),
      host: (host) => this.#hostFor(host),
    });
    return { isAvailable: probes.every(({ holds, isRequired }) => holds || !isRequired), probes };
  }

  #hostFor(host: PreparedHost): ContainerHost {
    return {
      launcher: this.#tier.launcher(host),
      filterFile: host.filterFile,
      systemArgs: host.systemArgs,
      groups: host.groups,
      diskWatch: host.diskWatch,
      pipes: host.pipes,
      folder: host.containers,
      temporary: host.temporary,
      egress: this.#options.egress ?? {},
      onClose: ({ id }) => this.#open.delete(id),
      removeFolder: removeTree,
    };
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new SandboxClosedError("The sandbox");
  }
}
