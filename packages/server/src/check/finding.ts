// What a check found, as data.

import { adviceByCode } from "./advice.ts";

/** `warning`: works, but not as well as it could; `skipped`: not checked. */
export type Status = "ok" | "warning" | "failed" | "skipped";

/** The outcome of one check. */
export interface Finding {
  readonly status: Status;
  /** The cause as one word for programs: `dead_port`, `web_page`. */
  readonly code: string;
  /** The same in words. */
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

export function ok(message: string, code = "ok"): Finding {
  return { status: "ok", code, message };
}

/** Default for `advice`: that of the code, if there is one. */
export function failed(code: string, message: string, advice = adviceByCode[code]): Finding {
  return { status: "failed", code, message, ...(advice !== undefined && { advice }) };
}

export function warning(code: string, message: string): Finding {
  return { ...failed(code, message), status: "warning" };
}

export type StepName = "answer" | "stream" | "tool";

/** One request to a model, or one run with it. */
export interface StepReport extends Finding {
  readonly step: StepName;
  readonly ms: number;
}

export interface ModelReport {
  readonly model: string;
  /** Undefined behind a Rondo server, which chooses it. */
  readonly profile?: {
    readonly name: string;
    readonly reason: string;
    readonly toolDialects: readonly string[];
  };
  /** Whether it answers, streams, calls a tool and uses the result. */
  readonly works: boolean;
  readonly steps: readonly StepReport[];
}
