// What the doctor found, as data: `--json` prints it, and the printer shows it to people.

import type { StoreFinding } from "../../store/check-store.ts";
import type { PostgresFinding } from "../../store/postgres/inspect.ts";
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

export interface InstallCheck extends Finding {
  readonly name:
    | "node"
    | "packages"
    | "config"
    | "store"
    | "sandbox"
    | StoreFinding["check"]
    | PostgresFinding["check"];
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

export interface ServerReport extends Finding {
  readonly type: "model" | "rondo";
  /** Without user, password and query. */
  readonly url: string;
  /** What names it: a flag, a variable, the config, or its usual port. */
  readonly source: string;
  readonly models: readonly string[];
  readonly checked: readonly ModelReport[];
}

export interface DoctorReport {
  /** Whether at least one model works end to end; with `--store`, whether the store is intact. */
  readonly ok: boolean;
  readonly installed: readonly InstallCheck[];
  readonly servers: readonly ServerReport[];
  readonly result: Finding;
}
