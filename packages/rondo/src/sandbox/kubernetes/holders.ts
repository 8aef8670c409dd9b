// What holds a container in a cluster: a pod of the tier, or a claim of agent-sandbox, which takes a pod that a pool
// keeps ready. Both carry the record of the container, and go away with it.

import { createHash } from "node:crypto";
import type { SandboxLimits } from "../sandbox.ts";
import { type KubeApi, KubeApiError, type KubeObject } from "./kube-api.ts";
import { instanceLabel, type PodSettings, podSpec } from "./pod-spec.ts";

export interface HolderMetadata {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Holder {
  /** The path of its objects. */
  readonly collection: string;
  /** The object that makes a container. */
  body(metadata: HolderMetadata, limits: SandboxLimits): object;
  /** Whether it can make one with these limits. */
  fits(limits: SandboxLimits): boolean;
  /** The name of the pod, when it runs. Rejects with a `PodFailedError` if it will not. */
  runningPod(name: string, signal: AbortSignal): Promise<string>;
}

/** The pod ended, or cannot start. Its files are gone. */
export class PodFailedError extends Error {
  override readonly name = "PodFailedError";
}

const claimGroup = "extensions.agents.x-k8s.io/v1beta1";

export function podHolder(api: KubeApi, settings: PodSettings): Holder {
  const collection = `/api/v1/namespaces/${settings.namespace}/pods`;
  return {
    collection,
    fits: () => true,
    body: (metadata, limits) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata,
      spec: podSpec(settings, limits),
    }),
    async runningPod(name, signal) {
      await untilRunning(api, collection, name, signal);
      return name;
    },
  };
}

interface ClaimOptions {
  readonly limits: SandboxLimits;
  readonly replicas: number;
}

/** Claims of a pool that the tier makes itself, so that its pods are as restricted as the others. */
export async function claimHolder(
  api: KubeApi,
  settings: PodSettings,
  { limits, replicas }: ClaimOptions,
  signal?: AbortSignal,
): Promise<Holder> {
  const { namespace, instance, lifetimeMs } = settings;
  const base = `/apis/${claimGroup}/namespaces/${namespace}`;
  // Pods of a pool wait, and their lifetime begins when they are claimed.
  const { activeDeadlineSeconds: _, ...spec } = podSpec(settings, limits) as Record<string, unknown>;
  const hash = createHash("sha256").update(JSON.stringify(spec)).digest("hex").slice(0, 10);
  const name = `${instance}-${hash}`;
  const labels = { [instanceLabel]: instance };
  await api.create(
    `${base}/sandboxtemplates`,
    {
      apiVersion: claimGroup,
      kind: "SandboxTemplate",
      metadata: { name, labels },
      // Without rules of ours, the controller would open the public internet.
      spec: {
        podTemplate: { metadata: { labels }, spec },
        networkPolicyManagement: "Managed",
        networkPolicy: { ingress: [], egress: [] },
      },
    },
    signal,
  );
  const pool = {
    apiVersion: claimGroup,
    kind: "SandboxWarmPool",
    metadata: { name, labels },
    spec: { replicas, sandboxTemplateRef: { name } },
  };
  const made = await api.create(`${base}/sandboxwarmpools`, pool, signal);
  if (made === undefined) await api.patch(`${base}/sandboxwarmpools/${name}`, { spec: { replicas } }, signal);
  const wanted = JSON.stringify(limits);
  return {
    collection: `${base}/sandboxclaims`,
    fits: (asked) => JSON.stringify(asked) === wanted,
    body: (metadata) => ({
      apiVersion: claimGroup,
      kind: "SandboxClaim",
      metadata,
      spec: {
        warmPoolRef: { name },
        lifecycle: {
          shutdownTime: new Date(Date.now() + lifetimeMs).toISOString().replace(/\.\d+Z$/, "Z"),
          shutdownPolicy: "Delete",
        },
      },
    }),
    async runningPod(claim, untilSignal) {
      const sandbox = await api.until(`${base}/sandboxclaims`, claim, claimedSandbox, untilSignal);
      const found = await api.get(
        `/apis/agents.x-k8s.io/v1beta1/namespaces/${namespace}/sandboxes/${sandbox}`,
        undefined,
        untilSignal,
      );
      const pod = found.metadata?.annotations?.["agents.x-k8s.io/pod-name"] ?? sandbox;
      await untilRunning(api, `/api/v1/namespaces/${namespace}/pods`, pod, untilSignal);
      return pod;
    },
  };
}

/** Whether the CRDs of agent-sandbox are installed, in the version that the tier speaks. */
export async function hasAgentSandbox(api: KubeApi, signal?: AbortSignal): Promise<boolean> {
  return (await api.find(`/apis/${claimGroup}`, signal)) !== undefined;
}

function claimedSandbox(claim: KubeObject | undefined): string | undefined {
  if (claim === undefined) throw new PodFailedError("The claim was deleted.");
  const { conditions = [], sandbox } = (claim.status ?? {}) as {
    conditions?: readonly { type: string; status: string; reason?: string; message?: string }[];
    sandbox?: { name?: string };
  };
  const ready = conditions.find(({ type }) => type === "Ready");
  if (ready?.reason !== undefined && finalReasons.has(ready.reason))
    throw new PodFailedError(`The claim cannot be served: ${ready.message ?? ready.reason}`);
  return ready?.status === "True" ? sandbox?.name : undefined;
}

const finalReasons = new Set(["ClaimExpired", "SandboxExpired", "PodFailed", "PodSucceeded"]);

async function untilRunning(
  api: KubeApi,
  collection: string,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  await api.until(collection, name, isRunning, signal);
}

function isRunning(pod: KubeObject | undefined): true | undefined {
  if (pod === undefined || pod.metadata?.deletionTimestamp !== undefined)
    throw new PodFailedError("The pod was deleted.");
  const status = (pod.status ?? {}) as {
    phase?: string;
    reason?: string;
    containerStatuses?: readonly {
      ready?: boolean;
      state?: { running?: object; waiting?: { reason?: string; message?: string } };
    }[];
  };
  if (status.phase === "Failed" || status.phase === "Succeeded")
    throw new PodFailedError(`The pod ended: ${status.reason ?? status.phase}.`);
  const state = status.containerStatuses?.[0]?.state;
  const waiting = state?.waiting?.reason ?? "";
  if (
    /^(ErrImagePull|ImagePullBackOff|InvalidImageName|CreateContainerConfigError|CrashLoopBackOff)$/.test(
      waiting,
    )
  )
    throw new PodFailedError(`The pod cannot start: ${waiting}. ${state?.waiting?.message ?? ""}`.trimEnd());
  return status.phase === "Running" && state?.running !== undefined ? true : undefined;
}

/** Whether the API server says that there is no room: a quota, or a limit of its own. */
export function isRefusal(error: unknown): error is KubeApiError {
  return error instanceof KubeApiError && [400, 401, 403, 422].includes(error.status);
}
