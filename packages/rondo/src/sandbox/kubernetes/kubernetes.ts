// The Kubernetes tier: each container a pod of a cluster.

import { randomBytes } from "node:crypto";
import { checkName, checkOptions, requireValue } from "../../error/check.ts";
import { checkRecord } from "../bwrap/record.ts";
import { completeLimits } from "../limits.ts";
import type {
  Container,
  OpenOptions,
  Sandbox,
  SandboxCheck,
  SandboxLimits,
  StoredContainer,
} from "../sandbox.ts";
import { SandboxClosedError, SandboxUnavailableError } from "../sandbox-errors.ts";
import type { Cluster } from "./cluster.ts";
import { claimHolder, type Holder, hasAgentSandbox, PodFailedError, podHolder } from "./holders.ts";
import { KubeApi, type KubeObject } from "./kube-api.ts";
import { KubeContainer } from "./kube-container.ts";
import {
  containerLabel,
  containerName,
  createdAnnotation,
  idAnnotation,
  instanceLabel,
  nameOf,
  type PodSettings,
  recordAnnotation,
  renewedAnnotation,
  temporaryLabel,
} from "./pod-spec.ts";
import { probeCluster } from "./probe-cluster.ts";

export interface KubernetesOptions {
  /** A kubeconfig file. Default: `KUBECONFIG`, `~/.kube/config`, or the service account of the pod of this process. */
  readonly kubeconfig?: string;
  /** Which context of the kubeconfig. Default: its current one. */
  readonly context?: string;
  /** The namespace of the pods. Default: that of the context, or `default`. */
  readonly namespace?: string;
  /** The image of the pods. It needs `python3` and a shell. Default: `python:3.13-slim`. */
  readonly image?: string;
  /** Tells apart the containers of several servers in one namespace: a name of lower-case letters. Default: `rondo`. */
  readonly instance?: string;
  /** Whether to claim pods of agent-sandbox. Default: where its CRDs are installed. */
  readonly usesAgentSandbox?: boolean;
  /** How many pods agent-sandbox keeps ready. Default: 2. */
  readonly warmPods?: number;
  /** A RuntimeClass, such as `gvisor`. Default: that of the cluster. */
  readonly runtimeClass?: string;
  /** Names of secrets for a private registry. Default: none. */
  readonly imagePullSecrets?: readonly string[];
  /** Labels of the nodes for the pods. Default: any node. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** The limits of containers that are opened without. Default: `defaultLimits`. */
  readonly limits?: Partial<SandboxLimits>;
  /** How long a container may take to start. Default: 120,000. */
  readonly startMs?: number;
  /** After how long the cluster ends a pod, whatever happens to this process. Default: 86,400,000 (a day). */
  readonly lifetimeMs?: number;
  /** How long a process may not be heard of before others remove its temporary containers. Default: 180,000. */
  readonly staleMs?: number;
}

const optionNames: readonly (keyof KubernetesOptions)[] = [
  "kubeconfig",
  "context",
  "namespace",
  "image",
  "instance",
  "usesAgentSandbox",
  "warmPods",
  "runtimeClass",
  "imagePullSecrets",
  "nodeSelector",
  "limits",
  "startMs",
  "lifetimeMs",
  "staleMs",
];

/** A sandbox in a Kubernetes cluster. Needs the package `@kubernetes/client-node`. Runs nothing until its probes held. */
export function kubernetes(options: KubernetesOptions = {}): Sandbox {
  checkOptions("options", options, optionNames);
  return new KubernetesSandbox(options);
}

class KubernetesSandbox implements Sandbox {
  readonly kind = "kubernetes";
  readonly #options: KubernetesOptions;
  readonly #limits: SandboxLimits;
  readonly #open = new Map<string, KubeContainer>();
  #cluster: Promise<Cluster> | undefined;
  #check: Promise<SandboxCheck> | undefined;
  #closing: Promise<void> | undefined;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(options: KubernetesOptions) {
    this.#options = options;
    this.#limits = completeLimits(options.limits, undefined, "options.limits");
    const { instance = "rondo" } = options;
    const expected = "1 to 20 lower-case letters, digits or '-'";
    requireValue(/^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/.test(instance), "options.instance", expected, instance);
  }

  async check(signal?: AbortSignal): Promise<SandboxCheck> {
    this.#checkOpen();
    this.#check ??= probeCluster({
      connect: () => this.#connected(),
      openProbe: (cluster, probeSignal) => this.#make(cluster, { isTemporary: true }, probeSignal),
      startMs: this.#startMs,
    });
    const check = await this.#check;
    signal?.throwIfAborted();
    // A cluster that does not answer may later.
    if (!check.isAvailable) this.#check = undefined;
    return check;
  }

  async open(options: OpenOptions = {}): Promise<Container> {
    options.signal?.throwIfAborted();
    const noNetwork =
      "undefined: this tier gives no network, because network policies know no names of hosts";
    requireValue(options.network === undefined, "network", noNetwork, options.network);
    const noMounts = "no mounts: pods do not see folders of this machine";
    requireValue((options.mounts ?? []).length === 0, "mounts", noMounts, options.mounts);
    const check = await this.check(options.signal);
    if (!check.isAvailable) throw new SandboxUnavailableError(this.kind, check.probes);
    return this.#make(await this.#connected(), options, options.signal);
  }

  async containers(signal?: AbortSignal): Promise<readonly StoredContainer[]> {
    return (await this.#held(await this.#connected(), signal))
      .filter(({ object }) => object.metadata?.labels?.[temporaryLabel] === undefined && !isOver(object))
      .map(({ object }) => ({ ...storedIn(object), isOpen: this.#open.has(storedIn(object).id) }));
  }

  async remove(id: string, signal?: AbortSignal): Promise<void> {
    checkName("id", id);
    const cluster = await this.#connected();
    await this.#open.get(id)?.close({ removesFiles: true });
    const name = nameOf(cluster.settings.instance, id);
    for (const { collection } of cluster.holders)
      await removeObject(cluster.api, collection, name, this.#startMs, signal);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    clearInterval(this.#sweeping);
    await Promise.all([...this.#open.values()].map((container) => container.close()));
  }

  get #startMs(): number {
    return this.#options.startMs ?? 120_000;
  }

  async #make(
    cluster: Cluster,
    options: OpenOptions,
    signal: AbortSignal | undefined,
  ): Promise<KubeContainer> {
    const id = options.id === undefined ? randomBytes(12).toString("hex") : checkName("id", options.id);
    const limits = completeLimits(options.limits, this.#limits);
    const record = checkRecord(options.record ?? {});
    this.#checkOpen();
    requireValue(!this.#open.has(id), "id", "the id of a container that is not open", id);
    const until = AbortSignal.any([AbortSignal.timeout(this.#startMs), ...(signal ? [signal] : [])]);
    const name = nameOf(cluster.settings.instance, id);
    const found = await this.#find(cluster, name, until);
    const holder = found?.holder ?? cluster.holders.find((it) => it.fits(limits));
    if (holder === undefined) throw new Error("A tier without a holder of pods.");
    const metadata = this.#metadata(cluster.settings, name, {
      id,
      record,
      isTemporary: options.isTemporary === true,
    });
    const made = found
      ? undefined
      : await cluster.api.create(holder.collection, holder.body(metadata, limits), until);
    // Another process may have made it in the meantime.
    const object =
      found?.object ?? made ?? (await cluster.api.get(`${holder.collection}/${name}`, undefined, until));
    try {
      const pod = await holder.runningPod(name, until);
      this.#checkOpen();
      requireValue(!this.#open.has(id), "id", "the id of a container that is not open", id);
      const container = new KubeContainer({
        id,
        isNew: made !== undefined,
        isTemporary: object.metadata?.labels?.[temporaryLabel] !== undefined,
        limits,
        record: storedIn(object).record,
        api: cluster.api,
        address: {
          client: cluster.client,
          config: cluster.config,
          namespace: cluster.settings.namespace,
          pod,
          container: containerName,
        },
        holderPath: `${holder.collection}/${name}`,
        renewMs: this.#staleMs / 4,
        onClose: () => this.#open.delete(id),
        removeHolder: () => removeObject(cluster.api, holder.collection, name, this.#startMs),
      });
      this.#open.set(id, container);
      return container;
    } catch (error) {
      // What did not start is not left behind.
      if (made !== undefined)
        await removeObject(cluster.api, holder.collection, name, this.#startMs).catch(() => undefined);
      if (until.aborted && !signal?.aborted)
        throw new Error(
          `The container did not start within ${this.#startMs} ms. Look at the events of its pod.`,
          { cause: error },
        );
      throw error;
    }
  }

  /** The object that holds a container. One whose pod ended is removed first: its files are gone. */
  async #find(
    cluster: Cluster,
    name: string,
    signal: AbortSignal,
  ): Promise<{ holder: Holder; object: KubeObject } | undefined> {
    for (const holder of cluster.holders) {
      const object = await cluster.api.find(`${holder.collection}/${name}`, signal);
      if (object === undefined) continue;
      if (!isOver(object)) {
        try {
          await holder.runningPod(name, signal);
          return { holder, object };
        } catch (error) {
          if (!(error instanceof PodFailedError)) throw error;
        }
      }
      await removeObject(cluster.api, holder.collection, name, this.#startMs, signal);
    }
    return undefined;
  }

  #metadata(
    { instance }: PodSettings,
    name: string,
    { id, record, isTemporary }: { id: string; record: object; isTemporary: boolean },
  ): { name: string; labels: Record<string, string>; annotations: Record<string, string> } {
    const now = String(Date.now());
    return {
      name,
      labels: {
        "app.kubernetes.io/managed-by": "rondo",
        [instanceLabel]: instance,
        [containerLabel]: "true",
        ...(isTemporary && { [temporaryLabel]: "true" }),
      },
      annotations: {
        [idAnnotation]: id,
        [recordAnnotation]: JSON.stringify(record),
        [createdAnnotation]: now,
        [renewedAnnotation]: now,
      },
    };
  }

  async #held(
    { api, settings, holders }: Cluster,
    signal?: AbortSignal,
  ): Promise<{ holder: Holder; object: KubeObject }[]> {
    const selector = `${instanceLabel}=${settings.instance},${containerLabel}=true`;
    const lists = await Promise.all(
      holders.map(async (holder) =>
        (await api.list(holder.collection, selector, signal)).map((object) => ({ holder, object })),
      ),
    );
    return lists.flat();
  }

  /** Removes temporary containers of processes that are not heard of any more. */
  async #sweep(cluster: Cluster): Promise<void> {
    const before = Date.now() - this.#staleMs;
    for (const { holder, object } of await this.#held(cluster)) {
      const { name = "", labels, annotations } = object.metadata ?? {};
      const isStale =
        labels?.[temporaryLabel] !== undefined && Number(annotations?.[renewedAnnotation]) < before;
      if (isStale && !this.#open.has(annotations?.[idAnnotation] ?? ""))
        await cluster.api.remove(`${holder.collection}/${name}`, { gracePeriodSeconds: 0 });
    }
  }

  get #staleMs(): number {
    return this.#options.staleMs ?? 180_000;
  }

  #connected(): Promise<Cluster> {
    this.#checkOpen();
    this.#cluster ??= this.#connect().catch((error: unknown) => {
      this.#cluster = undefined;
      throw error;
    });
    return this.#cluster;
  }

  async #connect(): Promise<Cluster> {
    const { kubeconfig, context, namespace, usesAgentSandbox, warmPods = 2 } = this.#options;
    const client = await import("@kubernetes/client-node");
    const config = new client.KubeConfig();
    if (kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(kubeconfig);
    if (context !== undefined) config.setCurrentContext(context);
    const api = new KubeApi(config);
    const settings: PodSettings = {
      image: this.#options.image ?? "python:3.13-slim",
      instance: this.#options.instance ?? "rondo",
      namespace: namespace ?? config.getContextObject(config.getCurrentContext())?.namespace ?? "default",
      runtimeClass: this.#options.runtimeClass,
      imagePullSecrets: this.#options.imagePullSecrets ?? [],
      nodeSelector: this.#options.nodeSelector ?? {},
      lifetimeMs: this.#options.lifetimeMs ?? 86_400_000,
    };
    const usesClaims = usesAgentSandbox ?? (await hasAgentSandbox(api));
    const options = { limits: this.#limits, replicas: warmPods };
    const holders = [
      ...(usesClaims ? [await claimHolder(api, settings, options)] : []),
      podHolder(api, settings),
    ];
    const cluster = { client, config, api, settings, holders };
    const sweep = () => void this.#sweep(cluster).catch(() => undefined);
    sweep();
    this.#sweeping = setInterval(sweep, this.#staleMs).unref();
    return cluster;
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new SandboxClosedError("The sandbox");
  }
}

async function removeObject(
  api: KubeApi,
  collection: string,
  name: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const path = `${collection}/${name}`;
  const found = await api.remove(path, { gracePeriodSeconds: 0, propagationPolicy: "Foreground" }, signal);
  if (found === undefined) return;
  const until = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  await api.until(collection, name, (object) => (object === undefined ? true : undefined), until);
}

function storedIn({ metadata }: KubeObject): Omit<StoredContainer, "isOpen"> {
  const { annotations } = metadata ?? {};
  return {
    id: annotations?.[idAnnotation] ?? metadata?.name ?? "",
    record: JSON.parse(annotations?.[recordAnnotation] ?? "{}") as StoredContainer["record"],
    createdAtMs: Number(annotations?.[createdAnnotation] ?? Date.parse(metadata?.creationTimestamp ?? "")),
  };
}

/** Whether a container is ending, or its pod ended. */
function isOver({ metadata, status }: KubeObject): boolean {
  const phase = (status as { phase?: string } | undefined)?.phase;
  return metadata?.deletionTimestamp !== undefined || phase === "Failed" || phase === "Succeeded";
}
