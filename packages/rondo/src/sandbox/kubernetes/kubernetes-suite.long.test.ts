// The Kubernetes tier passes the tests of all tiers, against the stand-in API server.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { describeSandbox } from "../testing/sandbox-suite.ts";
import { kubernetes } from "./kubernetes.ts";
import { KubeServer } from "./testkit/kube-server.ts";
import { whyNoPods } from "./testkit/needs.ts";

const reason = whyNoPods();
const folder = mkdtempSync(join(tmpdir(), "rondo-kubernetes-suite-"));
const kubeconfig = join(folder, "config");
/** What the profile RuntimeDefault of a node decides about; the pods of the stand-in have no filter. */
const exceptions = {
  io_uring: "a matter of the node's filter",
  ptrace: "its own processes, which the filter of a node allows as well",
  keyring: "a matter of the node's filter",
  user_namespace: "a matter of the node's filter",
};

describe.skipIf(reason !== undefined)(`on a stand-in${reason === undefined ? "" : ` (${reason})`}`, () => {
  let server: KubeServer;
  beforeAll(async () => {
    server = await KubeServer.start();
    writeFileSync(kubeconfig, server.kubeconfig);
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });

  describeSandbox("Kubernetes", {
    runner: { describe, test, afterAll },
    open: () => kubernetes({ kubeconfig, startMs: 20_000 }),
    languages: ["python"],
    exceptions,
  });
});
