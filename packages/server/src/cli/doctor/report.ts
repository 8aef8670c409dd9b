// What the doctor has found, as data: what `--json` prints, and what is drawn for people.

import type { StoreFinding } from "../../store/check-store.ts";

/** `warning` works, but not as well as it could; `skipped` was not looked at. */
export type Status = "ok" | "warning" | "failed" | "skipped";

/** One thing that was looked at. */
export interface Finding {
  readonly status: Status;
  /** What is the matter, as one word for programs: `dead_port`, `web_page`. */
  readonly code: string;
  /** The same in words. */
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

export interface InstallCheck extends Finding {
  readonly name: "node" | "packages" | "config" | "store" | StoreFinding["check"];
}

export type StepName = "answer" | "stream" | "tool";

/** One request, or one conversation, with a model. */
export interface StepReport extends Finding {
  readonly step: StepName;
  readonly ms: number;
}

export interface ModelReport {
  readonly model: string;
  /** Undefined behind a Rondo server, which knows it. */
  readonly profile?: {
    readonly name: string;
    readonly reason: string;
    readonly toolDialects: readonly string[];
  };
  /** Whether it answers, streams, calls a tool and uses the result. */
  readonly works: boolean;
  readonly steps: readonly StepReport[];
}

export interface ServerReport extends Finding {
  readonly type: "model" | "rondo";
  /** Without user, password and query. */
  readonly url: string;
  /** Who has named it: a flag, a variable, the config, or a look at the usual port. */
  readonly source: string;
  readonly models: readonly string[];
  readonly checked: readonly ModelReport[];
}

export interface DoctorReport {
  /** Whether at least one model works end to end; with `--store`, whether the store is whole. */
  readonly ok: boolean;
  readonly installed: readonly InstallCheck[];
  readonly servers: readonly ServerReport[];
  readonly result: Finding;
}

export function works(steps: readonly StepReport[]): boolean {
  const isFine = (name: StepName) =>
    steps.some(({ step, status }) => step === name && (status === "ok" || status === "warning"));
  return isFine("answer") && isFine("stream") && isFine("tool");
}
