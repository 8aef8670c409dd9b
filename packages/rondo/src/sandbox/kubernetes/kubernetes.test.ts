// The Kubernetes tier against the stand-in API server: what goes wrong in clusters.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readExecution } from "../read-execution.ts";
import type { Container, ExecRequest, Sandbox } from "../sandbox.ts";
import { SandboxUnavailableError } from "../sandbox-errors.ts";
import { type KubernetesOptions, kubernetes } from "./kubernetes.ts";
import { KubeServer, type KubeServerOptions } from "./testkit/kube-server.ts";
import { KubeStatusError } from "./testkit/kube-store.ts";
import { whyNoPods } from "./testkit/needs.ts";

const reason = whyNoPods();
const folder = mkdtempSync(join(tmpdir(), "rondo-kubernetes-"));
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(() => rmSync(folder, { recursive: true }));

async function startServer(options: KubeServerOptions = {}): Promise<KubeServer> {
  const server = await KubeServer.start(options);
  writeFileSync(configOf(server), server.kubeconfig);
  return server;
}

function configOf(server: KubeServer): string {
  return join(folder, `config-${new URL(server.url).port}`);
}

function connect(server: KubeServer, options: KubernetesOptions = {}): Sandbox {
  const sandbox = kubernetes({ kubeconfig: configOf(server), startMs: 20_000, ...options });
  closing.push(() => sandbox.close());
  return sandbox;
}

const run = async (container: Container, line: string, request: Partial<ExecRequest> = {}) =>
  readExecution(await container.exec({ command: ["sh", "-c", line], ...request }));
const contentOf = (container: Container, path: string) => text(Readable.from(container.read(path)));

describe.skipIf(reason !== undefined)(
  `the Kubernetes tier${reason === undefined ? "" : ` (${reason})`}`,
  () => {
    let server: KubeServer;
    beforeAll(async () => {
      server = await startServer();
    });
    beforeEach(() => {
      server.fault = () => undefined;
      server.requests.length = 0;
    });
    afterEach(async () => {
      for (const { metadata } of server.store.list("pods"))
        await server.pods.end("default", metadata.name, 0);
    });
    afterAll(() => server.close());

    const podOf = (id: string) => {
      const pod = server.store
        .list("pods")
        .find((it) => it.metadata.annotations?.["rondo.dev/container-id"] === id);
      if (!pod) throw new Error(`no pod of ${id}`);
      return pod;
    };

    test("gives pods no privileges, token or network, and limits their resources", async () => {
      const sandbox = connect(server);
      await sandbox.open({
        id: "Restricted_1",
        limits: { memoryBytes: 100 * 1024 * 1024 },
        record: { owner: "me" },
      });
      const { metadata, spec } = podOf("Restricted_1");
      expect(metadata.name).toMatch(/^rondo-[0-9a-f]{32}$/);
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
        activeDeadlineSeconds: 86_400,
      });
      expect(spec.containers[0]).toMatchObject({
        image: "python:3.13-slim",
        securityContext: {
          allowPrivilegeEscalation: false,
          privileged: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        resources: { limits: { memory: String(164 * 1024 * 1024) } },
      });
      const [policy] = server.store.list("networkpolicies");
      expect(policy?.spec).toEqual({
        podSelector: { matchLabels: { "rondo.dev/sandbox": "rondo" } },
        policyTypes: ["Ingress", "Egress"],
      });
      expect(metadata.labels).toMatchObject({ "rondo.dev/sandbox": "rondo" });
      expect(await sandbox.containers()).toMatchObject([
        { id: "Restricted_1", record: { owner: "me" }, isOpen: true },
      ]);
    });

    test("refuses mounts and networks, which it cannot give", async () => {
      const sandbox = connect(server);
      await expect(sandbox.open({ network: { allow: ["pypi.org"] } })).rejects.toThrow(/gives no network/);
      await expect(sandbox.open({ mounts: [{ source: "/srv", target: "/srv" }] })).rejects.toThrow(
        /no mounts/,
      );
    });

    test("a container is found again by another process, with its files", async () => {
      const first = connect(server);
      const container = await first.open({ id: "kept", record: { a: 1 } });
      expect(container.isNew).toBe(true);
      await container.write("a/b", Buffer.from("kept"));
      await first.close();
      const again = await connect(server).open({ id: "kept", record: { a: 2 } });
      expect(again).toMatchObject({ isNew: false, record: { a: 1 } });
      expect(await contentOf(again, "a/b")).toBe("kept");
    });

    test("a broken connection ends the process in the pod, and is told", async () => {
      const container = await connect(server).open({ id: "broken" });
      const execution = await container.exec({
        command: ["sh", "-c", "trap '' HUP TERM; echo on; sleep 1000"],
      });
      const output = execution[Symbol.asyncIterator]();
      await output.next();
      server.dropConnections();
      expect(await execution.outcome).toMatchObject({ type: "lost" });
      await expect
        .poll(async () => (await run(container, "cat /proc/[0-9]*/comm")).stdout)
        .not.toContain("sleep");
    });

    test("code that ends its own supervision is ended with everything else in the pod", async () => {
      const container = await connect(server).open({ id: "regicide" });
      const { outcome } = await run(container, "setsid sleep 1000 & kill -9 $PPID; sleep 1000");
      expect(outcome).toMatchObject({ type: "lost" });
      expect((await run(container, "cat /proc/[0-9]*/comm")).stdout).not.toContain("sleep");
    });

    test("a container that the cluster ended for want of memory starts again, with its files", async () => {
      const container = await connect(server).open({ id: "memory" });
      await container.write("kept", Buffer.from("kept"));
      const execution = await container.exec({ command: ["sleep", "1000"] });
      await server.pods.killContainer("default", podOf("memory").metadata.name, "OOMKilled");
      expect(await execution.outcome).toMatchObject({ type: "memory" });
      expect(await contentOf(container, "kept")).toBe("kept");
    });

    test("a container whose pod was evicted begins anew", async () => {
      const first = connect(server);
      await first.open({ id: "evicted" });
      await first.close();
      await server.pods.evict("default", podOf("evicted").metadata.name);
      const sandbox = connect(server);
      expect(await sandbox.containers()).toEqual([]);
      expect((await sandbox.open({ id: "evicted" })).isNew).toBe(true);
    });

    test("temporary containers go away with their process, or when it was not heard of for a while", async () => {
      const sandbox = connect(server);
      const temporary = await sandbox.open({ id: "short", isTemporary: true });
      expect(await sandbox.containers()).toEqual([]);
      await temporary.close();
      expect(server.store.list("pods")).toEqual([]);
      const lasting = await sandbox.open({ id: "long", isTemporary: true });
      await lasting.setRecord({ kept: true });
      const dead = await sandbox.open({ id: "dead", isTemporary: true });
      // As a process that was killed: nothing is closed, and nothing renewed.
      const pod = podOf("dead");
      pod.metadata.annotations = { ...pod.metadata.annotations, "rondo.dev/renewed-at-ms": "1000" };
      server.store.update("pods", "default", pod);
      await connect(server).containers();
      await expect
        .poll(() =>
          server.store.list("pods").map(({ metadata }) => metadata.annotations?.["rondo.dev/container-id"]),
        )
        .toEqual(["long"]);
      await dead.close();
    });

    test("two processes that open the same container share one pod", async () => {
      const both = await Promise.all(
        [connect(server), connect(server)].map((it) => it.open({ id: "shared" })),
      );
      expect(both.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(server.store.list("pods")).toHaveLength(1);
    });

    test("waits where the server is busy, and tries again where a connection broke", async () => {
      const sandbox = connect(server);
      await sandbox.check();
      const faults = [
        new KubeStatusError(429, "TooManyRequests", "later", 0),
        "drop",
        new KubeStatusError(503, "ServiceUnavailable", "no"),
        "drop",
      ] as const;
      let at = 0;
      server.fault = ({ url = "" }) =>
        url.includes("/pods") && !url.includes("/exec") ? faults[at++] : undefined;
      const container = await sandbox.open({ id: "busy" });
      expect(at).toBeGreaterThan(faults.length);
      expect((await run(container, "echo on")).stdout).toBe("on\n");
    });

    test("begins a watch anew whose version is too old, told by the status or by an event", async () => {
      const sandbox = connect(server);
      await sandbox.check();
      server.pods.isFull = true;
      let watches = 0;
      server.fault = ({ url = "" }) => {
        if (!url.includes("watch=true")) return undefined;
        watches += 1;
        if (watches === 1) return new KubeStatusError(410, "Expired", "too old resource version");
        // The version that was listed is forgotten before the watch begins: the stand-in sends an ERROR event.
        if (watches === 2) server.store.compact();
        else server.pods.makeRoom();
        return undefined;
      };
      expect((await sandbox.open({ id: "waiting" })).isNew).toBe(true);
      expect(watches).toBeGreaterThanOrEqual(3);
    });

    test("what does not start in time is an error, and is not left behind", async () => {
      const sandbox = connect(server, { startMs: 1500 });
      await sandbox.check();
      server.pods.isFull = true;
      await expect(sandbox.open({ id: "late" })).rejects.toThrow(/did not start within 1500 ms/);
      server.pods.isFull = false;
      expect(server.store.list("pods")).toEqual([]);
    });

    test("a quota is an error with its reason", async () => {
      const sandbox = connect(server);
      await sandbox.check();
      const quotas = server.store.kinds.find(({ kind }) => kind === "ResourceQuota");
      if (quotas)
        server.store.create(quotas, "default", { metadata: { name: "q" }, spec: { hard: { pods: "0" } } });
      await expect(sandbox.open({ id: "refused" })).rejects.toThrow(/403 Forbidden: exceeded quota: q/);
      server.store.remove("resourcequotas", "default", "q");
    });

    test.each([
      ["401", new KubeStatusError(401, "Unauthorized", "Unauthorized"), /401 Unauthorized/],
      ["403", new KubeStatusError(403, "Forbidden", "cannot create networkpolicies"), /sandbox-rbac\.yaml/],
    ])("runs nothing where the API server answers %s", async (_name, fault, message) => {
      server.fault = ({ method }) => (method === "POST" ? fault : undefined);
      const opening = connect(server).open({ id: "forbidden" });
      await expect(opening).rejects.toThrow(message);
      await expect(opening).rejects.toBeInstanceOf(SandboxUnavailableError);
      expect(server.store.list("pods")).toEqual([]);
    });

    test("speaks the older protocol of exec too, which cannot close the input", async () => {
      const older = await startServer({ newestExec: "v4" });
      closing.push(() => older.close());
      const container = await connect(older).open({ id: "old" });
      const { stdout } = await run(container, "wc -c", { input: Buffer.alloc(200_000) });
      expect(stdout.trim()).toBe("200000");
    });

    test("claims ready pods of agent-sandbox where it is installed, and makes others for other limits", async () => {
      const other = await startServer({ hasAgentSandbox: true });
      closing.push(() => other.close());
      const sandbox = connect(other, { warmPods: 1 });
      expect((await sandbox.check()).probes).toContainEqual(
        expect.objectContaining({ name: "agent_sandbox", holds: true }),
      );
      const claimed = await sandbox.open({ id: "claimed", record: { a: 1 } });
      expect(other.store.list("sandboxclaims")).toHaveLength(1);
      const [template] = other.store.list("sandboxtemplates");
      expect(template?.spec.networkPolicy).toEqual({ ingress: [], egress: [] });
      expect(template?.spec.podTemplate.spec.containers[0].securityContext.readOnlyRootFilesystem).toBe(true);
      expect((await run(claimed, "echo on")).stdout).toBe("on\n");
      await sandbox.open({ id: "larger", limits: { memoryBytes: 1024 ** 3 } });
      expect(other.store.list("sandboxclaims")).toHaveLength(1);
      const ids = (await sandbox.containers()).map(({ id }) => id).toSorted();
      expect(ids).toEqual(["claimed", "larger"]);
      await sandbox.remove("claimed");
      expect(other.store.list("sandboxclaims")).toEqual([]);
      await expect.poll(() => other.store.list("pods").length).toBe(2);
    });
  },
);

test("without a cluster, it says what to do", async () => {
  const path = join(folder, "nowhere");
  const clusters = [
    { name: "c", cluster: { server: "http://127.0.0.1:1", "insecure-skip-tls-verify": true } },
  ];
  const contexts = [{ name: "c", context: { cluster: "c", user: "c" } }];
  writeFileSync(
    path,
    JSON.stringify({ clusters, contexts, users: [{ name: "c", user: {} }], "current-context": "c" }),
  );
  const { isAvailable, probes } = await connect({ url: "http://x:1" } as KubeServer, {
    kubeconfig: path,
  }).check();
  expect(isAvailable).toBe(false);
  expect(probes.at(-1)?.detail).toMatch(/ECONNREFUSED/);
});
