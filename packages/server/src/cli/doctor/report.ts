// What the doctor found, as data: `--json` prints it, and the printer shows it to people.

import type { Finding, ModelReport } from "../../check/finding.ts";
import type { StoreFinding } from "../../store/check-store.ts";
import type { PostgresFinding } from "../../store/postgres/inspect.ts";

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
