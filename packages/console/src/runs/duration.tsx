// How long a run took; while it runs, how long it has taken.

import { isRunning } from "../api/response.ts";
import type { RunStatus } from "../api/types.ts";
import { formatDuration } from "../ui/format.ts";
import { now } from "./clock.ts";

export interface DurationProps {
  readonly fromMs: number;
  readonly toMs: number | null;
  readonly status: RunStatus;
}

export function Duration({ fromMs, toMs, status }: DurationProps) {
  if (toMs !== null) return <>{formatDuration(Math.max(0, toMs - fromMs))}</>;
  if (!isRunning({ status })) return <>–</>;
  return <Ticking fromMs={fromMs} />;
}

function Ticking({ fromMs }: { readonly fromMs: number }) {
  const ms = Math.max(0, now.value - fromMs);
  return <>{ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : formatDuration(ms)}</>;
}
