// What is wrong with the trace of one run, in words: nothing, if it is well formed.

import type { TraceEvent } from "../trace.ts";

type AnswerEvent = Extract<TraceEvent, { answer: number }>;
type TurnEvent = Extract<TraceEvent, { turnId: string }>;

export function traceFlaws(events: readonly TraceEvent[]): string[] {
  const flaws: string[] = [];
  const types = events.map(({ type }) => type);
  if (types.indexOf("run.started") !== 0 || types.lastIndexOf("run.started") !== 0)
    flaws.push("run.started is not the first and only one");
  const ends = types.filter((type) => type === "run.finished" || type === "run.failed");
  if (ends.length !== 1 || ends[0] !== types.at(-1)) flaws.push(`the run ends with ${ends.join(", ")}`);
  for (const [index, { atMs, type }] of events.entries())
    if (atMs < (events[index - 1]?.atMs ?? 0)) flaws.push(`${type} is earlier than the event before it`);
  flaws.push(...flawsOfAnswers(events.filter((event): event is AnswerEvent => "answer" in event)));
  flaws.push(...flawsOfTurns(events.filter((event): event is TurnEvent => "turnId" in event)));
  return flaws;
}

const answerPattern =
  /^asked (slot\.awaited (slot\.taken )?)?(sent (retried |accepted (chunk |started )*)?)*(started )?(finished (checked )*|failed )$/;

function flawsOfAnswers(events: readonly AnswerEvent[]): string[] {
  const flaws: string[] = [];
  const byAnswer = Map.groupBy(events, ({ answer }) => answer);
  if ([...byAnswer.keys()].some((answer, index) => answer !== index))
    flaws.push(`the answers are ${[...byAnswer.keys()].join(", ")}`);
  for (const [answer, own] of byAnswer) {
    const words = own.map(({ type }) => type.replace(/^(model|request|call)\./, "")).join(" ");
    if (!answerPattern.test(`${words} `)) flaws.push(`answer ${answer} has the events ${words}`);
    if (own.filter(({ type }) => type === "model.started").length > 1)
      flaws.push(`answer ${answer} starts twice`);
    let attempt = 0;
    for (const event of own) {
      if (event.type === "request.sent" && event.attempt !== ++attempt)
        flaws.push(`answer ${answer}: attempt ${event.attempt} is sent after ${attempt - 1}`);
      if (event.type === "request.retried" && event.attempt !== attempt)
        flaws.push(`answer ${answer}: attempt ${event.attempt} is retried after ${attempt}`);
    }
  }
  return flaws;
}

const turnPattern = /^(started (lock\.awaited (lock\.taken )?)?(progress )*finished )+$/;

function flawsOfTurns(events: readonly TurnEvent[]): string[] {
  const flaws: string[] = [];
  for (const [turnId, own] of Map.groupBy(events, (event) => event.turnId)) {
    const words = own.map(({ type }) => type.replace(/^turn\./, "")).join(" ");
    if (!turnPattern.test(`${words} `)) flaws.push(`turn ${turnId} has the events ${words}`);
    let attempt = 0;
    let count = 0;
    for (const event of own) {
      if (event.type === "turn.started") count = 0;
      if (event.type === "turn.started" && event.attempt !== ++attempt)
        flaws.push(`turn ${turnId}: attempt ${event.attempt} after ${attempt - 1}`);
      if (event.type === "turn.progress" && event.count !== ++count)
        flaws.push(`turn ${turnId}: value ${event.count} after ${count - 1}`);
    }
  }
  return flaws;
}
