// The objects of the tier in a cluster: a pod that may do nothing but run code, and a policy that gives it no network.

import { createHash } from "node:crypto";
import type { SandboxLimits } from "../sandbox.ts";
import { agentCommand, agentSource, agentVariable } from "./pod-agent.ts";

/** What the operator decides about the pods. */
export interface PodSettings {
  readonly image: string;
  readonly instance: string;
  readonly namespace: string;
  readonly runtimeClass: string | undefined;
  readonly imagePullSecrets: readonly string[];
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly lifetimeMs: number;
}

export const containerName = "sandbox";
/** Marks what belongs to one instance of the tier. The network policy goes by it. */
export const instanceLabel = "rondo.dev/sandbox";
/** On what holds a container: a pod, or a claim. */
export const containerLabel = "rondo.dev/container";
export const temporaryLabel = "rondo.dev/temporary";
export const idAnnotation = "rondo.dev/container-id";
export const recordAnnotation = "rondo.dev/record";
export const createdAnnotation = "rondo.dev/created-at-ms";
/** When a process that has the container open last said so. */
export const renewedAnnotation = "rondo.dev/renewed-at-ms";

const user = 65_534;
const mebibyte = 1024 * 1024;

/** Memory of the agent and of what the kernel keeps, beyond that of the code. */
const ownMemoryBytes = 64 * mebibyte;

/** Names of objects must be short and in lower case; ids of containers need not be. */
export function nameOf(instance: string, id: string): string {
  return `${instance}-${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;
}

export function podSpec(settings: PodSettings, limits: SandboxLimits): object {
  const memory = String(limits.memoryBytes + ownMemoryBytes);
  // The agent ends code that writes more; beyond this, the kubelet evicts the pod with its files.
  const disk = String(limits.diskBytes + 256 * mebibyte);
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // A container that ran out of memory starts again, and finds its files.
    restartPolicy: "Always",
    activeDeadlineSeconds: Math.ceil(settings.lifetimeMs / 1000),
    terminationGracePeriodSeconds: 1,
    hostname: "sandbox",
    dnsPolicy: "None",
    dnsConfig: { nameservers: ["127.0.0.1"] },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: user,
      fsGroup: user,
      seccompProfile: { type: "RuntimeDefault" },
    },
    ...(settings.runtimeClass !== undefined && { runtimeClassName: settings.runtimeClass }),
    ...(Object.keys(settings.nodeSelector).length > 0 && { nodeSelector: settings.nodeSelector }),
    ...(settings.imagePullSecrets.length > 0 && {
      imagePullSecrets: settings.imagePullSecrets.map((name) => ({ name })),
    }),
    containers: [
      {
        name: containerName,
        image: settings.image,
        command: [...agentCommand, '{"do":"idle"}'],
        workingDir: "/mnt/data",
        env: [
          { name: agentVariable, value: agentSource },
          { name: "HOME", value: "/tmp" },
        ],
        securityContext: {
          allowPrivilegeEscalation: false,
          privileged: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        resources: {
          requests: { cpu: "50m", memory: String(Math.min(limits.memoryBytes, 128 * mebibyte)) },
          limits: { cpu: "1", memory, "ephemeral-storage": disk },
        },
        volumeMounts: [
          { name: "data", mountPath: "/mnt/data" },
          { name: "tmp", mountPath: "/tmp" },
        ],
      },
    ],
    volumes: ["data", "tmp"].map((name) => ({ name, emptyDir: { sizeLimit: disk } })),
  };
}

/** Denies everything in and out for all pods of the instance. */
export function networkPolicy({ instance }: PodSettings): object {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: `${instance}-deny-all`, labels: { [instanceLabel]: instance } },
    spec: { podSelector: { matchLabels: { [instanceLabel]: instance } }, policyTypes: ["Ingress", "Egress"] },
  };
}
