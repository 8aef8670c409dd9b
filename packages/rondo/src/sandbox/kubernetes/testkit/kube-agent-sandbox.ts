// A small controller for agent-sandbox: warm pools keep sandboxes, a claim takes one, a sandbox has a pod.

import { apiVersionOf, type Kind, type KubeObject, type KubeStore } from "./kube-store.ts";

const core = "agents.x-k8s.io";
const extensions = "extensions.agents.x-k8s.io";
const kindOf = (group: string, kind: string, plural: string): Kind => ({
  group,
  version: "v1beta1",
  kind,
  plural,
  isNamespaced: true,
});

export const agentSandboxKinds = {
  sandbox: kindOf(core, "Sandbox", "sandboxes"),
  claim: kindOf(extensions, "SandboxClaim", "sandboxclaims"),
  template: kindOf(extensions, "SandboxTemplate", "sandboxtemplates"),
  pool: kindOf(extensions, "SandboxWarmPool", "sandboxwarmpools"),
} as const;

export const podKind: Kind = { group: "", version: "v1", kind: "Pod", plural: "pods", isNamespaced: true };

/** Acts on changes of the store, one after the other. */
export function startAgentSandboxController(store: KubeStore): void {
  const { sandbox, claim, pool } = agentSandboxKinds;
  store.on("change", ({ type, plural, object }) => {
    const namespace = object.metadata.namespace ?? "";
    // After the change itself, as a controller would.
    queueMicrotask(() => {
      if (plural === pool.plural || plural === sandbox.plural)
        for (const it of store.list(pool.plural, namespace)) fillPool(store, it);
      if (type === "DELETED") return;
      if (plural === claim.plural || plural === sandbox.plural || plural === pool.plural)
        for (const it of store.list(claim.plural, namespace)) serveClaim(store, it);
      if (plural === sandbox.plural && type === "ADDED") createPod(store, object);
      if (plural === "pods" && type === "MODIFIED") reportPod(store, object);
    });
  });
}

function fillPool(store: KubeStore, pool: KubeObject): void {
  const namespace = pool.metadata.namespace ?? "";
  const template = store.find("sandboxtemplates", namespace, pool.spec.sandboxTemplateRef.name);
  const own = store.list("sandboxes", namespace).filter((it) => isOwnedBy(it, pool));
  if (!template || pool.metadata.deletionTimestamp) return;
  for (let missing = (pool.spec.replicas ?? 1) - own.length; missing > 0; missing -= 1)
    store.create(agentSandboxKinds.sandbox, namespace, {
      metadata: {
        generateName: `${pool.metadata.name}-`,
        ownerReferences: [ownerReference(pool)],
        labels: { "agents.x-k8s.io/launch-type": "warm" },
      },
      spec: { podTemplate: structuredClone(template.spec.podTemplate), operatingMode: "Running" },
    });
}

function serveClaim(store: KubeStore, claim: KubeObject): void {
  const namespace = claim.metadata.namespace ?? "";
  if (claim.metadata.deletionTimestamp) return;
  const own = store.list("sandboxes", namespace).find((it) => isOwnedBy(it, claim));
  const pool = store.find("sandboxwarmpools", namespace, claim.spec.warmPoolRef.name);
  const taken = own ?? (pool && store.list("sandboxes", namespace).find((it) => isOwnedBy(it, pool)));
  if (!taken) {
    setReady(store, "sandboxclaims", claim, false, pool ? "SandboxNotReady" : "WarmPoolNotFound", {});
    return;
  }
  if (!own) {
    store.update("sandboxes", namespace, {
      ...taken,
      metadata: { ...taken.metadata, ownerReferences: [ownerReference(claim)] },
    });
    const pod = store.find("pods", namespace, podNameOf(taken));
    const { labels = {}, annotations = {} } = claim.spec.additionalPodMetadata ?? {};
    if (pod) {
      pod.metadata.labels = {
        ...pod.metadata.labels,
        ...labels,
        "agents.x-k8s.io/claim-uid": claim.metadata.uid,
      };
      pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
      store.update("pods", namespace, pod);
    }
  }
  const isReady = taken.status?.conditions?.[0]?.status === "True";
  setReady(store, "sandboxclaims", claim, isReady, isReady ? "DependenciesReady" : "DependenciesNotReady", {
    sandbox: { name: taken.metadata.name, podIPs: taken.status?.podIPs ?? [] },
  });
}

function createPod(store: KubeStore, sandbox: KubeObject): void {
  const namespace = sandbox.metadata.namespace ?? "";
  const { metadata = {}, spec } = sandbox.spec.podTemplate;
  if (store.find("pods", namespace, sandbox.metadata.name)) return;
  const name = sandbox.metadata.name;
  store.create(podKind, namespace, {
    metadata: { ...metadata, name, ownerReferences: [ownerReference(sandbox)] },
    spec: structuredClone(spec),
  });
}

function reportPod(store: KubeStore, pod: KubeObject): void {
  const namespace = pod.metadata.namespace ?? "";
  const owner = pod.metadata.ownerReferences?.find(({ kind }) => kind === "Sandbox");
  const sandbox = owner && store.find("sandboxes", namespace, owner.name);
  if (!sandbox) return;
  const isReady = pod.status?.phase === "Running";
  setReady(store, "sandboxes", sandbox, isReady, isReady ? "DependenciesReady" : "DependenciesNotReady", {
    podIPs: (pod.status?.podIPs ?? []).map(({ ip }: { ip: string }) => ip),
  });
}

function setReady(
  store: KubeStore,
  plural: string,
  object: KubeObject,
  isReady: boolean,
  reason: string,
  more: object,
): void {
  const status = {
    conditions: [{ type: "Ready", status: isReady ? "True" : "False", reason, message: reason }],
    ...more,
  };
  if (JSON.stringify(object.status) !== JSON.stringify(status))
    store.update(plural, object.metadata.namespace ?? "", { ...object, status });
}

function podNameOf(sandbox: KubeObject): string {
  return sandbox.metadata.annotations?.["agents.x-k8s.io/pod-name"] ?? sandbox.metadata.name;
}

function isOwnedBy(object: KubeObject, { metadata: { uid } }: KubeObject): boolean {
  return (
    object.metadata.ownerReferences?.some((it) => it.uid === uid) === true &&
    !object.metadata.deletionTimestamp
  );
}

function ownerReference({
  kind = "",
  metadata,
}: KubeObject): NonNullable<KubeObject["metadata"]["ownerReferences"]>[number] {
  const found = Object.values(agentSandboxKinds).find((it) => it.kind === kind) as Kind;
  return { apiVersion: apiVersionOf(found), kind, name: metadata.name, uid: metadata.uid, controller: true };
}
