// What all runs of a process share.

import type { Audit } from "../audit/audit-log.ts";
import { jobsTopic, type News } from "../store/news.ts";
import type { Store } from "../store/store.ts";
import type { ActiveRuns } from "./active-runs.ts";
import type { RunObserver } from "./observer.ts";
import type { PlannerOptions } from "./planner.ts";
import type { RecentWarnings } from "./recent-warnings.ts";
import type { RunTraces } from "./run-traces.ts";
import type { Telemetry } from "./telemetry.ts";

export interface RunParts {
  readonly store: Store;
  readonly news: News;
  readonly active: ActiveRuns;
  readonly planner: PlannerOptions;
  readonly observer: RunObserver;
  /** The audit log. Default: none. */
  readonly audit?: Audit | undefined;
  readonly recentWarnings: RecentWarnings;
  /** Makes spans of the runs. Default: none are made. */
  readonly telemetry?: Telemetry | undefined;
  readonly traces: RunTraces;
  /** Holds the leases of this process. */
  readonly workerName: string;
  readonly leaseMs: number;
  readonly now: () => number;
}

/** Wakes the runs and jobs that wait for a conversation. */
export function publishFree(news: News, conversation: string | undefined): void {
  if (conversation === undefined) return;
  news.publish(conversation);
  news.publish(jobsTopic);
}
