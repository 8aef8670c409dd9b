// What waits, what runs, and which runs were given up: the part of `rondo doctor --store` about the queue.

import type { PostgresConnection } from "./connection.ts";
import type { PostgresFinding } from "./inspect.ts";
import { fromDbText } from "./text.ts";

/** How many given-up runs are shown, and how old they may be. */
const maxShown = 10;
const shownDays = 7;
/** A run that waits longer than this, while nobody is there to take it, is worth a warning. */
const longWaitMs = 60_000;

interface CountsRow {
  readonly queued: number;
  readonly running: number;
  readonly oldest_ms: number | null;
  readonly nodes: number;
}

interface DeadRow {
  readonly id: string;
  readonly owner: string;
  readonly model: string;
  readonly error: string;
  readonly ended_at_ms: number;
}

export async function inspectQueue(db: PostgresConnection): Promise<PostgresFinding[]> {
  const s = db.schema;
  const nowMs = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
  const [counts] = await db.query<CountsRow>(
    `SELECT (count(*) FILTER (WHERE status = 'queued'))::integer AS queued,
      (count(*) FILTER (WHERE status = 'in_progress'))::integer AS running,
      ${nowMs} - min(created_at_ms) FILTER (WHERE status = 'queued') AS oldest_ms,
      (SELECT count(*)::integer FROM ${s}.nodes WHERE seen_at > now() - interval '1 minute') AS nodes
    FROM ${s}.responses WHERE status IN ('queued', 'in_progress')`,
  );
  const dead = await db.query<DeadRow>(
    `SELECT id, owner, model, error, ended_at_ms FROM ${s}.responses
      WHERE ended_at_ms > ${nowMs} - ${shownDays * 86_400_000} AND status = 'failed'
        AND error LIKE '%"too_many_attempts"%' ORDER BY ended_at_ms DESC LIMIT ${maxShown + 1}`,
  );
  return [queueFinding(counts ?? { queued: 0, running: 0, oldest_ms: null, nodes: 0 }), deadFinding(dead)];
}

function queueFinding({ queued, running, oldest_ms: oldestMs, nodes }: CountsRow): PostgresFinding {
  const age = oldestMs === null ? "" : ` (the oldest for ${Math.round(oldestMs / 1000)} s)`;
  const message = `${queued} runs wait${age}, ${running} are at work, ${nodes} servers and workers are alive`;
  if (queued === 0 || nodes > 0 || (oldestMs ?? 0) < longWaitMs)
    return { check: "queue", status: "ok", code: "ok", message };
  const advice =
    "Nobody works on them: start `rondo worker`, or a server without --no-worker, with this store.";
  return { check: "queue", status: "warning", code: "no_worker", message, advice };
}

/** Runs that ended their process again and again, and were given up. */
function deadFinding(rows: readonly DeadRow[]): PostgresFinding {
  if (rows.length === 0)
    return {
      check: "queue",
      status: "ok",
      code: "no_dead_letters",
      message: `no run was given up in the last ${shownDays} days`,
    };
  const shown = rows.slice(0, maxShown).map(({ id, owner, model, error, ended_at_ms: endedAtMs }) => {
    const { message = error } = JSON.parse(error) as { message?: string };
    return `${fromDbText(id)} (${fromDbText(owner)}, ${fromDbText(model)}, ${new Date(endedAtMs).toISOString()}): ${message}`;
  });
  const more = rows.length > maxShown ? "\nand older ones" : "";
  return {
    check: "queue",
    status: "warning",
    code: "dead_letters",
    message: `runs that were given up in the last ${shownDays} days:\n${shown.join("\n")}${more}`,
    advice:
      "Each has ended the process that worked on it, or could not be kept, too often (runs.maxAttempts). Read the log of the server at that time for the tool that did it, and correct that. Then send the request again; `rondo responses show ID` has its input. They stay as failed responses until they are deleted.",
  };
}
