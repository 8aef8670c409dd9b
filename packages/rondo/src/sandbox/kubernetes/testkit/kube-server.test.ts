// The stand-in is proved by the real kubectl.

import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KubeServer } from "./kube-server.ts";
import { whyNoKubectl, whyNoPods } from "./needs.ts";

const reason = whyNoPods() ?? whyNoKubectl();

describe.skipIf(reason !== undefined)(
  `kubectl and the stand-in${reason === undefined ? "" : ` (${reason})`}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), "rondo-kubectl-"));
    const env = { ...process.env, KUBECONFIG: join(folder, "config") };
    const kubectl = async (...args: string[]) => (await promisify(execFile)("kubectl", args, { env })).stdout;
    let server: KubeServer;

    beforeAll(async () => {
      server = await KubeServer.start({ hasAgentSandbox: true });
      writeFileSync(env.KUBECONFIG, server.kubeconfig);
      writeFileSync(join(folder, "pod.json"), JSON.stringify(pod));
    });
    afterAll(async () => {
      await server.close();
      rmSync(folder, { recursive: true });
    });

    test("it creates, watches, waits for, lists and deletes pods", async () => {
      const watching = spawn("kubectl", ["get", "pods", "--watch", "--output-watch-events"], { env });
      const events: string[] = [];
      createInterface(watching.stdout).on("line", (line) => events.push(line));
      await kubectl("create", "--validate=false", "-f", join(folder, "pod.json"));
      await kubectl("wait", "--for=condition=Ready", "pod/one", "--timeout=20s");
      expect(await kubectl("get", "pods", "--selector=kind=test", "--output=name")).toBe("pod/one\n");
      expect(await kubectl("get", "pods", "--selector=kind=other", "--output=name")).toBe("");
      await expect(kubectl("create", "--validate=false", "-f", join(folder, "pod.json"))).rejects.toThrow(
        /AlreadyExists/,
      );
      await kubectl("annotate", "pod", "one", "note=here");
      expect(await kubectl("get", "pod", "one", "--output=jsonpath={.metadata.annotations.note}")).toBe(
        "here",
      );
      await kubectl("delete", "pod", "one", "--grace-period=1");
      await expect(kubectl("get", "pod", "one")).rejects.toThrow(/NotFound/);
      await expect.poll(() => events.at(-1)).toMatch(/^DELETED\s+one/);
      watching.kill();
    });

    test("it runs programs in a pod, with input and exit codes, and copies files", async () => {
      await kubectl("create", "--validate=false", "-f", join(folder, "pod.json"));
      await kubectl("wait", "--for=condition=Ready", "pod/one", "--timeout=20s");
      const cat = spawn("kubectl", ["exec", "-i", "one", "--", "sh", "-c", "cat; echo end"], { env });
      cat.stdin.end("from outside\n");
      expect(await text(cat.stdout)).toBe("from outside\nend\n");
      await expect(kubectl("exec", "one", "--", "sh", "-c", "exit 7")).rejects.toMatchObject({ code: 7 });
      const [source, target] = [join(folder, "source"), join(folder, "target")];
      writeFileSync(source, Buffer.alloc(300_000, "x"));
      await kubectl("cp", source, "one:/mnt/data/copy");
      await kubectl("cp", "one:/mnt/data/copy", target);
      expect(readFileSync(target).equals(readFileSync(source))).toBe(true);
      expect(server.requests.filter((it) => it.includes("/exec?")).every((it) => it.startsWith("GET "))).toBe(
        true,
      );
    });

    test("it finds the kinds of agent-sandbox, and a claim gets a pod of a pool", async () => {
      const create = (kind: string, name: string, spec: object) => {
        const file = join(folder, `${name}.json`);
        const apiVersion = "extensions.agents.x-k8s.io/v1beta1";
        writeFileSync(file, JSON.stringify({ apiVersion, kind, metadata: { name }, spec }));
        return kubectl("create", "--validate=false", "-f", file);
      };
      await create("SandboxTemplate", "t", { podTemplate: { spec: pod.spec } });
      await create("SandboxWarmPool", "pool", { replicas: 1, sandboxTemplateRef: { name: "t" } });
      await create("SandboxClaim", "claim", { warmPoolRef: { name: "pool" } });
      await kubectl("wait", "--for=condition=Ready", "sandboxclaim/claim", "--timeout=20s");
      const name = await kubectl("get", "sandboxclaim", "claim", "--output=jsonpath={.status.sandbox.name}");
      expect(await kubectl("exec", name, "--", "echo", "claimed")).toBe("claimed\n");
      await kubectl("delete", "sandboxclaim", "claim");
      await kubectl("wait", "--for=delete", `pod/${name}`, "--timeout=20s");
      expect(server.store.list("sandboxes")).toHaveLength(1);
    });
  },
);

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "one", labels: { kind: "test" } },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: "main",
        image: "any",
        command: ["sleep", "1000"],
        volumeMounts: [{ name: "data", mountPath: "/mnt/data" }],
      },
    ],
    volumes: [{ name: "data", emptyDir: {} }],
  },
};
