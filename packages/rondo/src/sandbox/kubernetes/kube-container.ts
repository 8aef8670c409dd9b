// A container of the Kubernetes tier: a pod, reached over exec.

import { checkRecord } from "../bwrap/record.ts";
import { limitOutcome } from "../limit-messages.ts";
import type {
  Container,
  ContainerFile,
  ContainerRecord,
  ExecRequest,
  Execution,
  Outcome,
  SandboxLimits,
} from "../sandbox.ts";
import { SandboxClosedError } from "../sandbox-errors.ts";
import { checkedRequest } from "./exec-request.ts";
import type { KubeApi, KubeObject } from "./kube-api.ts";
import { PodExecution } from "./pod-execution.ts";
import { PodFiles } from "./pod-files.ts";
import { recordAnnotation, renewedAnnotation, temporaryLabel } from "./pod-spec.ts";
import { type PodAddress, PodStream } from "./pod-stream.ts";

export interface KubeContainerSetup {
  readonly id: string;
  readonly isNew: boolean;
  readonly isTemporary: boolean;
  readonly limits: SandboxLimits;
  readonly record: ContainerRecord;
  readonly api: KubeApi;
  readonly address: PodAddress;
  /** The path of the object that holds the container. */
  readonly holderPath: string;
  /** How often to say that it is in use. */
  readonly renewMs: number;
  readonly onClose: () => void;
  readonly removeHolder: () => Promise<void>;
}

const sweepMs = 10_000;
const endingLooks = 30;
const endingLookMs = 100;

export class KubeContainer implements Container {
  readonly id: string;
  readonly isNew: boolean;
  readonly limits: SandboxLimits;
  readonly #setup: KubeContainerSetup;
  readonly #files: PodFiles;
  readonly #running = new Set<PodExecution>();
  readonly #renewing: NodeJS.Timeout;
  #record: ContainerRecord;
  #isTemporary: boolean;
  #closing: Promise<void> | undefined;

  constructor(setup: KubeContainerSetup) {
    this.#setup = setup;
    this.id = setup.id;
    this.isNew = setup.isNew;
    this.limits = setup.limits;
    this.#record = setup.record;
    this.#isTemporary = setup.isTemporary;
    this.#files = new PodFiles((job, onOutput, signal) => this.#start(job, onOutput, signal), setup.limits);
    this.#renewing = setInterval(() => void this.#renew(), setup.renewMs).unref();
  }

  get record(): ContainerRecord {
    return this.#record;
  }

  async setRecord(record: ContainerRecord): Promise<void> {
    this.#checkOpen();
    const checked = checkRecord(record);
    await this.#patch({
      labels: { [temporaryLabel]: null },
      annotations: { [recordAnnotation]: JSON.stringify(checked) },
    });
    this.#record = checked;
    this.#isTemporary = false;
  }

  async exec(request: ExecRequest, signal?: AbortSignal): Promise<Execution> {
    this.#checkOpen();
    signal?.throwIfAborted();
    const job = checkedRequest(request, this.limits);
    const execution = await PodExecution.start({
      request,
      limits: this.limits,
      signal,
      start: (onOutput) => this.#start(job, onOutput, signal),
      sweep: () => this.#sweep(),
    });
    this.#running.add(execution);
    void execution.outcome.then(() => this.#running.delete(execution));
    if (this.#closing !== undefined) execution.endWith(closed);
    return execution;
  }

  read(path: string, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#files.read(path, signal);
  }

  write(
    path: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<ContainerFile> {
    return this.#files.write(path, content, signal);
  }

  list(signal?: AbortSignal): Promise<readonly ContainerFile[]> {
    return this.#files.list(signal);
  }

  remove(path: string, signal?: AbortSignal): Promise<boolean> {
    return this.#files.remove(path, signal);
  }

  /** What code in the pod can see and reach. */
  async probe(signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const stream = await this.#start({ do: "probe" }, () => undefined, signal);
    const { result, detail } = await stream.ended;
    if (result === undefined) throw new Error(`The agent in the pod gave no answer. ${detail}`);
    return result;
  }

  close({ removesFiles = false }: { readonly removesFiles?: boolean } = {}): Promise<void> {
    this.#closing ??= this.#end(removesFiles || this.#isTemporary);
    return this.#closing;
  }

  async #end(removesFiles: boolean): Promise<void> {
    clearInterval(this.#renewing);
    for (const execution of this.#running) execution.endWith(closed);
    await Promise.all([...this.#running].map(({ outcome }) => outcome));
    try {
      if (removesFiles) await this.#setup.removeHolder();
    } finally {
      this.#setup.onClose();
    }
  }

  async #start(
    job: object,
    onOutput: (kind: "o" | "r", content: Buffer) => void,
    signal?: AbortSignal,
  ): Promise<PodStream> {
    this.#checkOpen();
    return PodStream.open(this.#setup.address, job, onOutput, signal);
  }

  /** Ends everything in the pod. Its container may just have been ended for want of memory. */
  async #sweep(): Promise<Outcome> {
    const { api, address } = this.#setup;
    const signal = AbortSignal.timeout(sweepMs);
    let isThere = false;
    try {
      const stream = await PodStream.open(address, { do: "sweep" }, () => undefined, signal);
      isThere = (await stream.ended).result !== undefined;
    } catch {
      // Its container is not there, and nothing in it.
    }
    const readPod = () =>
      api.find(`/api/v1/namespaces/${address.namespace}/pods/${address.pod}`, signal).catch(() => undefined);
    let pod = await readPod();
    // The cluster says a while later why it ended a container.
    for (let left = isThere ? 0 : endingLooks; left > 0 && lastEnding(pod) === undefined; left--) {
      await new Promise((resolve) => setTimeout(resolve, endingLookMs));
      pod = await readPod();
    }
    if (lastEnding(pod) === "OOMKilled") return limitOutcome("memory", this.limits);
    return {
      type: "lost",
      message: "The agent in the pod was ended. All processes of the container were ended with it.",
    };
  }

  async #renew(): Promise<void> {
    await this.#patch({ annotations: { [renewedAnnotation]: String(Date.now()) } }).catch(() => undefined);
  }

  async #patch(metadata: object): Promise<void> {
    await this.#setup.api.patch(this.#setup.holderPath, { metadata });
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new SandboxClosedError("The container");
  }
}

const closed: Outcome = { type: "lost", message: "The container was closed." };

function lastEnding(pod: KubeObject | undefined): string | undefined {
  const status = pod?.status as
    | { containerStatuses?: readonly { state?: Ending; lastState?: Ending }[] }
    | undefined;
  const [container] = status?.containerStatuses ?? [];
  return container?.state?.terminated?.reason ?? container?.lastState?.terminated?.reason;
}

interface Ending {
  readonly terminated?: { readonly reason?: string };
}
