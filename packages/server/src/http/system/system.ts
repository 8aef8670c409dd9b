// What the console needs to know about this server, for one owner.

import type { ModelServerView } from "../../config/models.ts";
import type { SandboxHost } from "../../executor/sandbox/sandbox-host.ts";
import type { SystemReply } from "../../protocol/system.ts";
import type { Store } from "../../store/store.ts";
import { isPostgresUrl, storeLabel } from "../../store/store-label.ts";
import type { Metrics } from "../metrics.ts";
import { toEndpoints } from "./endpoints.ts";
import { shortly } from "./shortly.ts";

export interface SystemOptions {
  readonly version: string;
  /** Whether clients need a key. Then nobody sees addresses, nor what belongs to others. */
  readonly hasAuth: boolean;
  /** As the config names it. */
  readonly store: string | Store;
  readonly queue: Pick<Store["queue"], "count">;
  readonly models: { servers(): Promise<ModelServerView[]> };
  readonly sandbox: Pick<SandboxHost, "known" | "allows" | "settings" | "state">;
  readonly metrics: Metrics;
  /** What is kept of runs. */
  readonly traces: string;
}

export class System {
  readonly #options: SystemOptions;
  readonly #startedAtMs = Date.now();

  constructor(options: SystemOptions) {
    this.#options = options;
  }

  async state(owner: string): Promise<SystemReply> {
    const { version, hasAuth, models, queue, metrics, traces } = this.#options;
    const [servers, counts, sandbox] = await Promise.all([
      models.servers(),
      shortly(queue.count(hasAuth ? owner : undefined)),
      this.#sandbox(owner),
    ]);
    const served = servers.filter((server) => server.models.length > 0);
    return {
      object: "system",
      version,
      node: process.version,
      started_at_ms: this.#startedAtMs,
      store: this.#store(),
      auth: hasAuth,
      owner,
      traces,
      sandbox,
      endpoints: toEndpoints(servers, !hasAuth),
      queue: counts ?? null,
      streams: metrics.totals.streams,
      is_demo: served.length > 0 && served.every(({ label }) => label.startsWith("demo:")),
    };
  }

  #store(): SystemReply["store"] {
    const { store, hasAuth } = this.#options;
    const kind = storeKind(store);
    return { kind, label: hasAuth ? kind : storeLabel(store) };
  }

  /** Looks only: what was not tried yet is not tried for a page that shows it. */
  async #sandbox(owner: string): Promise<SystemReply["sandbox"]> {
    const { sandbox } = this.#options;
    const none = { kind: null, language: null };
    if (!sandbox.allows(owner))
      return { state: "off", ...none, reason: "You may not run code on this server." };
    const known = sandbox.settings.kind === "none" ? await sandbox.state() : sandbox.known;
    if (known === undefined) return { state: "untried", ...none, reason: null };
    if (!known.isOn) return { state: "off", ...none, reason: known.reason };
    return { state: "on", kind: known.kind, language: known.language, reason: null };
  }
}

function storeKind(store: string | Store): string {
  if (typeof store !== "string") return "custom";
  return isPostgresUrl(store) ? "postgres" : (store.split(":", 1)[0] ?? store);
}
