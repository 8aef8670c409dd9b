// The probes of the Kubernetes tier: what must hold in a cluster before it runs anything of a model.

import type { SandboxCheck, SandboxProbe } from "../sandbox.ts";
import type { Cluster } from "./cluster.ts";
import { isRefusal } from "./holders.ts";
import { KubeApiError } from "./kube-api.ts";
import type { KubeContainer } from "./kube-container.ts";
import { networkPolicy } from "./pod-spec.ts";

interface ProbeOptions {
  readonly connect: () => Promise<Cluster>;
  readonly openProbe: (cluster: Cluster, signal: AbortSignal) => Promise<KubeContainer>;
  readonly startMs: number;
}

const roleRemedy = "Give the server the role of deploy/kubernetes/sandbox-rbac.yaml.";

export async function probeCluster({ connect, openProbe, startMs }: ProbeOptions): Promise<SandboxCheck> {
  const probes: SandboxProbe[] = [];
  const add = (name: string, holds: boolean, detail: string, remedy?: string, isRequired = true): boolean => {
    probes.push({ name, holds, isRequired, detail, ...(!holds && remedy !== undefined && { remedy }) });
    return holds;
  };
  const signal = AbortSignal.timeout(startMs * 2);
  try {
    const cluster = await connect();
    const { api, settings, holders } = cluster;
    add("cluster", true, `The cluster answers, and pods go to the namespace '${settings.namespace}'.`);
    await api.create(
      `/apis/networking.k8s.io/v1/namespaces/${settings.namespace}/networkpolicies`,
      networkPolicy(settings),
      signal,
    );
    add("network_policy", true, "A network policy denies all traffic of the pods.");
    const holder =
      holders.length > 1 ? "claims of agent-sandbox" : "pods of its own, as agent-sandbox is not installed";
    add(
      "agent_sandbox",
      holders.length > 1,
      `Containers are ${holder}.`,
      "Install agent-sandbox for pods that are ready at once.",
      false,
    );
    const container = await openProbe(cluster, signal);
    try {
      report(await container.probe(signal), add);
    } finally {
      await container.close({ removesFiles: true });
    }
  } catch (error) {
    add(...failureOf(error));
  }
  return { isAvailable: probes.every(({ holds, isRequired }) => holds || !isRequired), probes };
}

function report(
  seen: Readonly<Record<string, unknown>>,
  add: (name: string, holds: boolean, detail: string, remedy?: string, isRequired?: boolean) => boolean,
): void {
  const reached = (seen["reached"] ?? []) as readonly string[];
  add(
    "no_network",
    reached.length === 0,
    reached.length === 0 ? "A pod reached no address." : `A pod reached ${reached.join(", ")}.`,
    "The network of the cluster does not enforce network policies. Install one that does, such as Calico or Cilium.",
  );
  // gVisor shows no such line; it has no programs that gain privileges on the node.
  const isBare =
    seen["capabilities"] === "0000000000000000" && seen["noNewPrivileges"] !== "0" && seen["user"] !== 0;
  add(
    "no_privileges",
    isBare,
    `The user is ${String(seen["user"])}, its capabilities are ${String(seen["capabilities"])}.`,
  );
  add("no_token", seen["hasToken"] === false, "The pods have no token of a service account.");
  const writable = (seen["writable"] ?? []) as readonly string[];
  add(
    "read_only_system",
    writable.length === 0,
    `Files of the system that it can write: ${writable.join(", ") || "none"}.`,
  );
  add("work_folder", seen["isWorkWritable"] === true, "The code can write to /mnt/data and /tmp.");
  add(
    "seccomp",
    seen["filter"] === "2",
    `The filter of system calls: ${String(seen["filter"])}; 2 is on.`,
    "Let the nodes apply the profile RuntimeDefault, or set a runtimeClass that isolates the kernel.",
    false,
  );
}

function failureOf(error: unknown): [name: string, holds: boolean, detail: string, remedy: string] {
  const message = error instanceof Error ? error.message : String(error);
  if ((error as { code?: unknown } | null)?.code === "ERR_MODULE_NOT_FOUND")
    return [
      "client",
      false,
      "The package @kubernetes/client-node is not installed.",
      "Install it: npm install @kubernetes/client-node",
    ];
  if (isRefusal(error)) return ["permission", false, message, roleRemedy];
  if (error instanceof KubeApiError) return ["cluster", false, message, "Look at the API server."];
  return [
    "start",
    false,
    `No container could be started: ${message}`,
    "Look at the kubeconfig, the image, and the events of the namespace.",
  ];
}
