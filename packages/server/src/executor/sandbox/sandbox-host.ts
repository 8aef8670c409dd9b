// The sandbox of a server: which tier it has, whether it holds, and who may use it. Nothing is tried before somebody
// asks, so that a server that nobody asks for code starts as fast as one without.

import type { Sandbox, SandboxCheck, SandboxLimits, SandboxMount } from "rondo/sandbox";
import { ApiError, invalidRequest } from "../../protocol/api-error.ts";
import { Containers, type ContainersOptions, type SandboxTools } from "./containers.ts";

export interface SandboxSettings
  extends Pick<ContainersOptions, "idleMs" | "containersPerOwner" | "openContainers" | "warmContainers"> {
  readonly kind: "auto" | "none" | "bwrap" | "runsc" | "kubernetes" | Sandbox;
  readonly language: "auto" | "python" | "javascript";
  readonly limits: SandboxLimits;
  readonly network: { readonly allow: readonly string[] };
  readonly mounts: readonly SandboxMount[];
  /** What the model is told is installed. */
  readonly packages: readonly string[];
  /** Who may use it; undefined for everyone. */
  readonly owners?: readonly string[] | undefined;
}

export interface SandboxHostOptions {
  readonly settings: SandboxSettings;
  /** Makes the tier of the settings. Only called if there is one. */
  readonly openTier: () => Promise<Sandbox>;
  /** Whether other processes serve the same store. Default: false. */
  readonly isShared?: boolean;
  readonly expire?: ContainersOptions["expire"];
  readonly onWarning: (message: string) => void;
}

/** Whether code can be run, and if not, what to do. */
export type SandboxState =
  | { readonly isOn: true; readonly kind: string; readonly language: "python" | "javascript" }
  | { readonly isOn: false; readonly reason: string };

interface Ready {
  readonly state: SandboxState;
  readonly check?: SandboxCheck;
  readonly containers?: Containers;
}

export class SandboxHost {
  readonly settings: SandboxSettings;
  readonly #options: SandboxHostOptions;
  #ready: Promise<Ready> | undefined;
  #known: SandboxState | undefined;

  constructor(options: SandboxHostOptions) {
    this.settings = options.settings;
    this.#options = options;
  }

  /** What came of the probes; undefined if nobody asked for code yet, so that they were not run. */
  get known(): SandboxState | undefined {
    return this.#known;
  }

  /** Whether this owner may run code, if any can be run. */
  allows(owner: string): boolean {
    return this.settings.owners?.includes(owner) ?? true;
  }

  /** Runs the probes of the tier, once, and says what came of it. */
  async state(): Promise<SandboxState> {
    return (await this.#prepared()).state;
  }

  /** What the probes of the tier found; undefined if there is none. */
  async check(): Promise<SandboxCheck | undefined> {
    return (await this.#prepared()).check;
  }

  /** The containers, for this owner. Throws a 400 if no code can be run, and a 403 if the owner may not. */
  async containers(owner: string, param: string | null): Promise<Containers> {
    if (!this.allows(owner))
      throw new ApiError(
        "You may not run code on this server. Its operator allows it in the config (sandbox.owners).",
        { status: 403, code: "sandbox_not_allowed", param },
      );
    const { state, containers } = await this.#prepared();
    if (containers) {
      containers.warmUp();
      return containers;
    }
    throw invalidRequest(param, state.isOn ? "" : state.reason, "unsupported_tool");
  }

  async close(): Promise<void> {
    const ready = await this.#ready?.catch(() => undefined);
    await ready?.containers?.close();
  }

  #prepared(): Promise<Ready> {
    this.#ready ??= this.#prepare().then(
      (ready) => {
        this.#known = ready.state;
        return ready;
      },
      (error: unknown) => {
        this.#ready = undefined; // it may work the next time
        throw error;
      },
    );
    return this.#ready;
  }

  async #prepare(): Promise<Ready> {
    const { settings, openTier, isShared = false, expire, onWarning } = this.#options;
    const off = (reason: string, check?: SandboxCheck): Ready => ({
      state: { isOn: false, reason: `This server runs no code: ${reason}` },
      ...(check && { check }),
    });
    if (settings.kind === "none")
      return off('its sandbox is off. Set "sandbox.kind" in its config to auto, or leave the tool out.');
    if (settings.kind === "auto" && process.platform !== "linux")
      return off(
        'by itself it can do so on Linux only. Give it a tier in its config ("sandbox.kind"), or leave the tool out.',
      );
    const sandbox = await openTier();
    const check = await sandbox.check();
    if (!check.isAvailable) {
      await sandbox.close();
      const failed = check.probes.filter(({ holds, isRequired }) => isRequired && !holds);
      const why = failed.map(({ detail, remedy }) => (remedy ? `${detail} ${remedy}` : detail)).join(" ");
      return off(
        `the sandbox '${sandbox.kind}' does not hold here. ${why} \`rondo doctor\` tries it again.`,
        check,
      );
    }
    const tools = (await import("rondo/sandbox")) as SandboxTools;
    const language = settings.language === "auto" ? await languageOf(sandbox, tools) : settings.language;
    const containers = new Containers({
      ...settings,
      sandbox,
      tools,
      language,
      allow: settings.network.allow,
      hasOtherNodes: isShared && (sandbox.kind === "bwrap" || sandbox.kind === "runsc"),
      ...(expire && { expire }),
      onWarning,
    });
    return { state: { isOn: true, kind: sandbox.kind, language }, check, containers };
  }
}

/** Python if the containers have it. */
async function languageOf(sandbox: Sandbox, tools: SandboxTools): Promise<"python" | "javascript"> {
  const container = await sandbox.open({ isTemporary: true });
  try {
    const interpreter = await tools.openInterpreter(container, { language: "python" });
    await interpreter.close();
    return "python";
  } catch {
    return "javascript";
  } finally {
    await container.close({ removesFiles: true });
  }
}
