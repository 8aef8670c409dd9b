// The kubelet of the stand-in: a pod is a bwrap process with the pod's command, and exec enters its namespaces. As in a
// cluster, a process that was started by exec outlives its connection, and a container that ends starts again in the
// same pod, with its volumes.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as setTimeoutAsync } from "node:timers/promises";
import { type KubeObject, KubeStatusError, type KubeStore } from "./kube-store.ts";

interface RunningPod {
  readonly folder: string;
  container: ChildProcess | undefined;
  /** The first process in the pod's namespaces, as seen from here. */
  pid: number;
  restarts: number;
  isEnding: boolean;
}

const systemFolders = ["/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc/alternatives"].filter((path) =>
  existsSync(path),
);

export class KubePods {
  readonly #store: KubeStore;
  readonly #pods = new Map<string, RunningPod>();
  readonly #folder = mkdtempSync(join(tmpdir(), "rondo-kube-"));
  /** Whether new pods stay pending, as without a node that has room. */
  isFull = false;
  #isClosed = false;

  constructor(store: KubeStore) {
    this.#store = store;
    store.on("change", ({ type, plural, object }) => {
      if (type === "ADDED" && plural === "pods") void this.#start(object);
    });
  }

  /** Ends a pod: SIGTERM, after the grace period SIGKILL; then the object goes away. */
  async end(namespace: string, name: string, graceSeconds: number): Promise<void> {
    const object = this.#store.get("pods", namespace, name);
    const pod = this.#pods.get(object.metadata.uid);
    object.metadata.deletionTimestamp = new Date().toISOString();
    object.metadata.deletionGracePeriodSeconds = graceSeconds;
    this.#store.update("pods", namespace, object);
    await this.#stop(pod, graceSeconds);
    if (pod) rmSync(pod.folder, { recursive: true, force: true });
    this.#pods.delete(object.metadata.uid);
    if (this.#store.find("pods", namespace, name)?.metadata.uid === object.metadata.uid)
      this.#store.remove("pods", namespace, name);
  }

  /** Ends the container of a pod from outside, as the kernel does without memory. It starts again. */
  async killContainer(namespace: string, name: string, reason: string): Promise<void> {
    const object = this.#store.get("pods", namespace, name);
    const pod = this.#pods.get(object.metadata.uid);
    if (!pod) return;
    await this.#stop(pod, 0);
    pod.isEnding = false;
    pod.restarts += 1;
    await this.#run(object, pod, { reason, exitCode: 137 });
  }

  /** Ends a pod as the kubelet does on eviction: the object stays, failed. */
  async evict(namespace: string, name: string): Promise<void> {
    const object = this.#store.get("pods", namespace, name);
    const pod = this.#pods.get(object.metadata.uid);
    await this.#stop(pod, 0);
    this.#store.update("pods", namespace, { ...object, status: { phase: "Failed", reason: "Evicted" } });
  }

  /** Starts a process in a pod. */
  exec(namespace: string, name: string, command: readonly string[]): ChildProcess {
    const object = this.#store.get("pods", namespace, name);
    const pod = this.#pods.get(object.metadata.uid);
    if (!pod?.container || pod.isEnding)
      throw new KubeStatusError(500, "InternalError", `container not found ("${name}")`);
    const env = environmentOf(object);
    const mayGain = object.spec?.containers?.[0]?.securityContext?.allowPrivilegeEscalation !== false;
    const locked = mayGain ? [] : ["setpriv", "--no-new-privs"];
    // The shell's own exec gives 127 for a missing program, where a runtime gives an error; both are not 0.
    const inside = ["-t", String(pod.pid), "-U", "-m", "-p", "-n", "-i", "-u", "--preserve-credentials"];
    return spawn(
      "nsenter",
      [...inside, "--wd=.", "--", ...locked, "env", "-i", "-C", "/", ...env, ...command],
      {
        stdio: ["pipe", "pipe", "pipe"],
      },
    );
  }

  /** The processes of a pod besides its first one, as seen from here. */
  processesOf(namespace: string, name: string): Promise<string> {
    return outputOf(this.exec(namespace, name, ["ls", "/proc"]));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#pods.values()].map((pod) => this.#stop(pod, 0)));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Lets pending pods start. */
  makeRoom(): void {
    this.isFull = false;
    for (const object of this.#store.list("pods"))
      if (!this.#pods.has(object.metadata.uid)) void this.#start(object);
  }

  async #start(given: KubeObject): Promise<void> {
    const { namespace = "", name, uid } = given.metadata;
    const object = this.#store.get("pods", namespace, name);
    this.#store.update("pods", namespace, { ...object, status: { phase: "Pending" } });
    if (this.isFull || this.#isClosed) return;
    const folder = join(this.#folder, uid);
    mkdirSync(folder);
    const pod: RunningPod = { folder, container: undefined, pid: 0, restarts: 0, isEnding: false };
    this.#pods.set(uid, pod);
    const deadlineSeconds = object.spec?.activeDeadlineSeconds as number | undefined;
    if (deadlineSeconds !== undefined)
      setTimeout(() => void this.#expire(namespace, name, pod), deadlineSeconds * 1000).unref();
    await this.#run(this.#store.get("pods", namespace, name), pod);
  }

  async #expire(namespace: string, name: string, pod: RunningPod): Promise<void> {
    if (pod.isEnding) return;
    await this.#stop(pod, 0);
    const object = this.#store.find("pods", namespace, name);
    const status = { phase: "Failed", reason: "DeadlineExceeded" };
    if (object) this.#store.update("pods", namespace, { ...object, status });
  }

  async #run(
    object: KubeObject,
    pod: RunningPod,
    last?: { reason: string; exitCode: number },
  ): Promise<void> {
    const [container] = object.spec?.containers ?? [];
    const mounts = (container?.volumeMounts ?? []).flatMap(
      ({ name, mountPath }: { name: string; mountPath: string }) => {
        const source = join(pod.folder, name);
        mkdirSync(source, { recursive: true });
        return ["--bind", source, mountPath];
      },
    );
    const command = [...(container?.command ?? []), ...(container?.args ?? [])];
    const child = spawn(
      "bwrap",
      [
        "--unshare-all",
        "--die-with-parent",
        "--as-pid-1",
        "--new-session",
        "--clearenv",
        "--uid",
        String(object.spec?.securityContext?.runAsUser ?? 65_534),
        "--gid",
        "65534",
        ...systemFolders.flatMap((path) => ["--ro-bind", path, path]),
        "--proc",
        "/proc",
        // As the runtimes of nodes do.
        "--ro-bind",
        "/proc/sys",
        "/proc/sys",
        "--dev",
        "/dev",
        "--dir",
        "/tmp",
        ...mounts,
        ...environmentOf(object).flatMap((pair) => ["--setenv", ...splitPair(pair)]),
        ...(container?.securityContext?.readOnlyRootFilesystem ? ["--remount-ro", "/"] : []),
        "--info-fd",
        "3",
        "--",
        ...(command.length > 0 ? command : ["sleep", "infinity"]),
      ],
      { stdio: ["ignore", "ignore", "inherit", "pipe"] },
    );
    child.on("error", () => undefined);
    pod.container = child;
    let info = "";
    for await (const chunk of child.stdio[3] as Readable) {
      info += String(chunk);
      if (info.includes("}")) break;
    }
    pod.pid = info.includes("child-pid") ? (JSON.parse(info)["child-pid"] as number) : 0;
    // The pod is made when its command has taken the place of bwrap.
    while (isBwrap(pod.pid) && child.exitCode === null) await setTimeoutAsync(5);
    const { namespace = "", name, uid } = object.metadata;
    const current = this.#store.find("pods", namespace, name);
    if (current?.metadata.uid !== uid || pod.isEnding || this.#isClosed) {
      child.kill("SIGKILL");
      return;
    }
    child.once("exit", () => {
      if (!pod.isEnding && pod.container === child)
        void this.killContainer(namespace, name, "Error").catch(() => undefined);
    });
    const since = new Date().toISOString();
    this.#store.update("pods", namespace, {
      ...current,
      status: {
        phase: "Running",
        startTime: since,
        conditions: [{ type: "Ready", status: "True" }],
        podIPs: [{ ip: "10.0.0.2" }],
        podIP: "10.0.0.2",
        containerStatuses: [
          {
            name: container?.name ?? "main",
            ready: true,
            started: true,
            restartCount: pod.restarts,
            state: { running: { startedAt: since } },
            ...(last && { lastState: { terminated: { ...last, finishedAt: since } } }),
          },
        ],
      },
    });
  }

  async #stop(pod: RunningPod | undefined, graceSeconds: number): Promise<void> {
    if (!pod) return;
    pod.isEnding = true;
    const child = pod.container;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    // The namespace ends with its first process.
    if (graceSeconds > 0 && pod.pid > 0) signal(pod.pid, "SIGTERM");
    else killAll(pod, child);
    const timer = setTimeout(() => killAll(pod, child), graceSeconds * 1000);
    await exited;
    clearTimeout(timer);
    pod.container = undefined;
  }
}

function killAll(pod: RunningPod, child: ChildProcess): void {
  if (pod.pid > 0) signal(pod.pid, "SIGKILL");
  child.kill("SIGKILL");
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself.
  }
}

function isBwrap(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`).endsWith("/bwrap");
  } catch {
    return false;
  }
}

function environmentOf(object: KubeObject): string[] {
  const variables = (object.spec?.containers?.[0]?.env ?? []) as { name: string; value?: string }[];
  return [
    "PATH=/usr/local/bin:/usr/bin:/bin",
    ...variables.map(({ name, value = "" }) => `${name}=${value}`),
  ];
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf("=");
  return [pair.slice(0, at), pair.slice(at + 1)];
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = "";
  for await (const chunk of child.stdout as Readable) output += String(chunk);
  return output;
}
