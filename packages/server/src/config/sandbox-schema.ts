// The sandbox: what runs the code of models, and what it may use.

import type { Sandbox } from "rondo/sandbox";
import { z } from "zod";
import {
  choice,
  flagValue,
  group,
  listOf,
  made,
  milliseconds,
  section,
  text,
  wholeNumber,
} from "./fields.ts";

const kinds = ["auto", "bwrap", "runsc", "kubernetes", "none"] as const;
const count = (value: number, min = 1) => wholeNumber(min).default(value);

const absolutePath = (what: string) => text(what, (value) => value.startsWith("/"));

const mountSchema = group({
  source: absolutePath("an absolute path on this machine").describe("A folder of this machine."),
  target: absolutePath("an absolute path").describe("Where the code sees it, outside of `/mnt/data`."),
  isWritable: flagValue().default(false).describe("Whether the code may write to it."),
});

const mebibyte = 1_048_576;

/** The same defaults as those of `rondo/sandbox`, which is not loaded for them. */
const limitsSchema = section("Limits of each container.", {
  memoryBytes: count(512 * mebibyte, 16 * mebibyte).describe("Memory of all its processes."),
  cpuMs: milliseconds().default(60_000).describe("CPU time of one call."),
  timeoutMs: milliseconds().default(60_000).describe("Time of one call."),
  processes: count(64).describe("Processes and threads at the same time."),
  diskBytes: count(512 * mebibyte).describe("All its files together."),
  files: count(10_000).describe("Number of its files and folders."),
  outputBytes: count(mebibyte).describe("What one call may print."),
});

const name = (what: string) => text(what).optional();

const kubernetesSchema = section(
  "The kind `kubernetes`: where its pods run. Needs `@kubernetes/client-node`.",
  {
    kubeconfig: name("the path of a file").describe(
      "A kubeconfig. If not set, `KUBECONFIG`, `~/.kube/config`, or the service account of this pod.",
    ),
    context: name("the name of a context").describe("Which context of it. Its current one if not set."),
    namespace: name("the name of a namespace").describe(
      "The namespace of the pods. That of the context if not set.",
    ),
    image: name("the name of an image").describe(
      "The image of the pods, with Python and a shell. `python:3.13-slim` if not set.",
    ),
    instance: name("a name of lower-case letters").describe(
      "Tells apart the containers of several servers in one namespace.",
    ),
    runtimeClass: name("the name of a RuntimeClass").describe(
      "Such as `gvisor`. That of the cluster if not set.",
    ),
  },
);

export const sandboxSchema = section(
  "Code of models: `code_interpreter`, `shell` and `/v1/containers` (docs/containers.md).",
  {
    kind: z
      .union([
        made<Sandbox>("a tier", isSandbox),
        choice(kinds).meta({ expected: `one of ${kinds.join(", ")}, or a tier` }),
      ])
      .default("auto")
      .meta({
        description:
          "What runs the code: `bwrap` (bubblewrap, on Linux), `runsc` (gVisor, on Linux as root), `kubernetes` (pods of a cluster), or a tier of your own, only in code. `auto`: bubblewrap where its probes hold, else none. `none`: requests with such tools are refused.",
        flag: "--sandbox <kind>",
      }),
    folder: absolutePath("an absolute path")
      .optional()
      .describe(
        "Where `bwrap` and `runsc` keep the files of containers. If not set, a folder for the state of programs.",
      ),
    kubernetes: kubernetesSchema,
    language: choice(["auto", "python", "javascript"])
      .default("auto")
      .describe("What `code_interpreter` runs. `auto`: Python where containers have it, else JavaScript."),
    packages: listOf(text("the name of a package"), "a list of names")
      .default([])
      .describe("Packages that the model is told are installed, such as `pandas`. Nothing is installed."),
    owners: listOf(text("an owner"), "a list of owners")
      .optional()
      .describe("The owners that may run code. All if not set."),
    limits: limitsSchema,
    network: section("What the code may reach.", {
      allow: listOf(text("a host such as pypi.org or *.example.com"), "a list of hosts")
        .default([])
        .describe("Hosts, through a proxy that refuses private addresses. None if empty."),
    }),
    mounts: listOf(mountSchema, "a list of folders")
      .default([])
      .describe("Folders of this machine for all containers."),
    idleMs: milliseconds(60_000)
      .default(1_200_000)
      .describe(
        "How long a container may be idle before it is deleted, and the most that a client may ask for.",
      ),
    openContainers: count(20).describe(
      "How many containers have processes at once. Others wait, or lose theirs when idle.",
    ),
    warmContainers: count(1, 0).describe(
      "How many more wait with a started interpreter, about 6 MB each, so that a container's first call does not. They start with the first request for code.",
    ),
    containersPerOwner: count(50).describe(
      "How many containers an owner may have, each with `limits.diskBytes`.",
    ),
  },
);

function isSandbox(value: unknown): boolean {
  const tier = Object(value) as Record<string, unknown>;
  const methods = ["check", "open", "containers", "remove", "close"];
  return typeof tier["kind"] === "string" && methods.every((name) => typeof tier[name] === "function");
}
