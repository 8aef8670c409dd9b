// Holds the audit log of a server that was killed against what its tools have really done, and what it has kept.

import { readFileSync } from "node:fs";
import { type AuditLine, LogReader } from "../../audit/read-log.ts";
import { type Effect, resultOf } from "./entry-tools.ts";
import { allResponses } from "./review.ts";

export interface AuditReview {
  readonly flaws: readonly string[];
  /** Calls that began and have no outcome in the log. */
  readonly unfinishedCalls: number;
}

/** `kills` is how many lines may be cut off. */
export async function auditFlaws(
  file: string,
  { url, effects, kills }: { url: string; effects: readonly Effect[]; kills: number },
): Promise<AuditReview> {
  const reader = new LogReader();
  const lines = [...reader.read(readFileSync(file)), ...reader.end()];
  const flaws: string[] = [];
  if (reader.broken > kills) flaws.push(`${reader.broken} lines are broken`);
  if (reader.missing > 0) flaws.push(`${reader.missing} lines are missing`);
  const calls = lines.filter(({ action }) => action.startsWith("call."));
  const starts = new Map(
    calls.filter(({ action }) => action === "call.started").map((line) => [nameOf(line.boot, line.n), line]),
  );
  const ends = calls.filter(({ action }) => action === "call.ended");
  for (const end of ends) {
    const start = starts.get(nameOf(end.boot, end.started ?? 0));
    if (start === undefined || callOf(start) !== callOf(end))
      flaws.push(`an outcome has no beginning: ${JSON.stringify(end)}`);
  }

  const begun = Map.groupBy(starts.values(), callOf);
  const effectsStarted = effects.filter(({ type }) => type === "started");
  for (const [call, list] of Map.groupBy(effectsStarted, ({ key }) => callOfKey(key)))
    if ((begun.get(call)?.length ?? 0) < list.length)
      flaws.push(`${call} ran ${list.length} times, and the log has ${begun.get(call)?.length ?? 0}`);

  const ended = new Set(ends.filter(({ outcome }) => outcome === "ok").map(callOf));
  const byResult = new Map(effectsStarted.map((effect) => [resultOf(effect.mark), callOfKey(effect.key)]));
  for await (const { output } of allResponses(url))
    for (const item of output) {
      const call = item.type === "mcp_call" ? byResult.get(item.output ?? "") : undefined;
      if (call !== undefined && !ended.has(call))
        flaws.push(`the result of ${call} is kept, but not in the log`);
    }
  return { flaws: flaws.map((flaw) => `the audit log: ${flaw}`), unfinishedCalls: starts.size - ends.length };
}

function nameOf(boot: string, number: number): string {
  return `${boot} ${number}`;
}

function callOf({ response_id: id, call_id: callId }: AuditLine): string {
  return `${id} ${String(callId)}`;
}

/** A key is the response, the number of the answer, and the call's id. */
function callOfKey(key: string): string {
  const [id, , ...callId] = key.split(":");
  return `${id} ${callId.join(":")}`;
}
