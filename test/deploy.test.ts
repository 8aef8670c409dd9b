// The files in deploy/: what can be checked without Docker and without a cluster. The load balancer runs for real in
// packages/server/src/conformance/several-nodes.test.ts.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as kubernetes from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { createProgram } from "../packages/server/src/cli/program.ts";
import { testIo } from "../packages/server/src/cli/testkit/test-io.ts";
import { resolveConfig } from "../packages/server/src/config/check-config.ts";
import { settings, shortcuts } from "../packages/server/src/config/settings.ts";
import { repoRoot } from "./support/repo.ts";

interface Manifest extends Record<string, unknown> {
  kind: string;
  metadata: { name: string };
}

const read = (path: string) => readFileSync(join(repoRoot, "deploy", path), "utf8");
const manifests = globSync("kubernetes/*.yaml", { cwd: join(repoRoot, "deploy") })
  .filter((path) => !path.endsWith("kustomization.yaml"))
  .toSorted()
  .flatMap((path) =>
    parseAllDocuments(read(path)).map((document) => ({ path, manifest: document.toJS() as Manifest })),
  );
const compose = parse(read("compose.yaml"), { merge: true }) as {
  services: Record<string, { command?: string[]; environment?: Record<string, string> }>;
};

/** What the program says about arguments; its commands do nothing. */
function complaintsAbout(args: readonly string[]): string {
  const io = testIo();
  const program = createProgram(io);
  for (const command of program.commands) command.action(() => {});
  try {
    program.parse(args, { from: "user" });
  } catch (error) {
    return io.err || String(error);
  }
  return io.err;
}

/** Fields that Kubernetes does not know, by the classes of its client. */
function unknownFields(value: unknown, type: string, path = ""): string[] {
  if (value === null || typeof value !== "object") return [];
  if (Array.isArray(value)) {
    const element = /^Array<(.+)>$/.exec(type)?.[1] ?? type;
    return value.flatMap((one, index) => unknownFields(one, element, `${path}[${index}]`));
  }
  const known = (kubernetes as Record<string, unknown>)[type] as
    | { getAttributeTypeMap?: () => { baseName: string; type: string }[] }
    | undefined;
  if (known?.getAttributeTypeMap === undefined) return []; // names with values: labels, limits
  const types = new Map(known.getAttributeTypeMap().map((field) => [field.baseName, field.type]));
  return Object.entries(value).flatMap(([name, inner]) => {
    const fieldType = types.get(name);
    return fieldType === undefined ? [`${path}.${name}`] : unknownFields(inner, fieldType, `${path}.${name}`);
  });
}

const variables = new Set([...settings, ...shortcuts].flatMap(({ env }) => env ?? []));

describe("Kubernetes", () => {
  test("has servers, workers, and what they need", () => {
    expect(
      manifests.map(({ manifest: { kind, metadata } }) => `${kind} ${metadata.name}`).toSorted(),
    ).toEqual(
      expect.arrayContaining([
        "ConfigMap rondo",
        "Deployment rondo",
        "Deployment rondo-worker",
        "PodDisruptionBudget rondo",
        "PodDisruptionBudget rondo-worker",
        "Secret rondo",
        "Service rondo",
      ]),
    );
  });

  test.each(manifests)("has only fields that exist in $path", ({ manifest }) => {
    const type = `V1${manifest.kind}`;
    expect(kubernetes).toHaveProperty(type);
    expect(unknownFields(manifest, type)).toEqual([]);
  });

  test("a field that does not exist is found", () => {
    expect(unknownFields({ spec: { template: { spec: { container: [] } } } }, "V1Deployment")).toEqual([
      ".spec.template.spec.container",
    ]);
  });

  test("starts commands that exist, with a config that is valid", () => {
    const deployments = manifests.filter(({ manifest }) => manifest.kind === "Deployment");
    for (const { manifest } of deployments) {
      const { spec } = manifest as unknown as kubernetes.V1Deployment;
      for (const { args } of spec?.template.spec?.containers ?? [])
        expect(complaintsAbout(args ?? [])).toBe("");
    }
    const data = manifests.find(({ manifest }) => manifest.kind === "ConfigMap")?.manifest["data"];
    const config = resolveConfig(parse((data as Record<string, string>)["rondo.yaml"] ?? "") as object);
    expect(config.host).toBe("0.0.0.0");
    const secret = manifests.find(({ manifest }) => manifest.kind === "Secret")?.manifest["stringData"];
    expect(Object.keys(secret as object).filter((name) => !variables.has(name))).toEqual([]);
  });

  test.runIf(spawnSync("kubectl", ["version", "--client"]).status === 0)("kustomize builds it", () => {
    const { status, stdout, stderr } = spawnSync("kubectl", ["kustomize", "deploy/kubernetes"], {
      cwd: repoRoot,
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const { resources } = parse(read("kubernetes/kustomization.yaml")) as { resources: string[] };
    const named = manifests.filter(({ path }) => resources.includes(basename(path)));
    expect(parseAllDocuments(stdout).length).toBe(named.length);
  });
});

describe("Compose", () => {
  test("has three servers, PostgreSQL and a load balancer, with commands and variables that exist", () => {
    const { node1, node2, node3, worker, ...others } = compose.services;
    expect(Object.keys(others).toSorted()).toEqual(["load-balancer", "postgres"]);
    for (const service of [node1, node2, node3, worker]) {
      expect(complaintsAbout(service?.command ?? [])).toBe("");
      expect(Object.keys(service?.environment ?? {}).filter((name) => !variables.has(name))).toEqual([]);
    }
  });
});

test("the image has a command that exists", () => {
  const command = /^CMD (\[.*\])$/m.exec(read("Dockerfile"))?.[1];
  expect(complaintsAbout(JSON.parse(command ?? "[]") as string[])).toBe("");
});

test.runIf(spawnSync("haproxy", ["-v"]).status === 0)("the load balancer accepts its config", () => {
  const nodes = { RONDO_NODE1: "127.0.0.1:1", RONDO_NODE2: "127.0.0.1:2", RONDO_NODE3: "127.0.0.1:3" };
  const { status, stderr } = spawnSync("haproxy", ["-c", "-f", "deploy/haproxy.cfg"], {
    cwd: repoRoot,
    encoding: "utf8",
    env: { ...process.env, ...nodes, RONDO_LB: "127.0.0.1:18080" },
  });
  expect(stderr).not.toMatch(/WARNING|ALERT/);
  expect(status).toBe(0);
});
