// What each request to the model cost: how full the context was, how much of the prompt the server had cached, how fast
// it answered.

import { errorOf, numberOf, rejectionOf, type TraceEvent, textOf } from "./events.ts";

export interface RoundCall {
  readonly callId: string;
  readonly name: string;
  readonly decision: string;
  /** In words; only if it was rejected. */
  readonly rejection?: string;
  readonly doubts: readonly string[];
}

export interface Round {
  readonly answer: number;
  readonly model?: string;
  readonly endpoint?: string;
  readonly contextWindow?: number;
  readonly messages?: number;
  readonly tools?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedTokens?: number;
  readonly slotMs?: number;
  /** From the request until the first token. */
  readonly firstTokenMs?: number;
  readonly generationMs?: number;
  /** As the model server measured it, else from the time of the generation. */
  readonly tokensPerSecond?: number;
  readonly finishReason?: string;
  readonly requestBytes?: number;
  readonly attempts: number;
  readonly error?: string;
  readonly calls: readonly RoundCall[];
}

type Reading = { -readonly [K in keyof Omit<Round, "calls">]: Round[K] } & { readonly calls: RoundCall[] };

interface Times {
  asked?: number;
  waited?: number;
  sent?: number;
  started?: number;
}

/** The rounds, in order. A trace that is still growing gives what is known. */
export function readRounds(events: readonly TraceEvent[]): Round[] {
  const rounds = new Map<number, Reading>();
  const times = new Map<number, Times>();
  for (const event of events) {
    const answer = numberOf(event, "answer");
    if (answer === undefined) continue;
    const round = rounds.get(answer) ?? { answer, attempts: 0, calls: [] };
    const at = times.get(answer) ?? {};
    rounds.set(answer, round);
    times.set(answer, at);
    readEvent(event, round, at);
  }
  return [...rounds.values()].toSorted((a, b) => a.answer - b.answer);
}

function readEvent(event: TraceEvent, round: Reading, times: Times): void {
  switch (event.type) {
    case "model.asked":
      times.asked = event.at;
      assign(round, {
        model: textOf(event, "model"),
        endpoint: textOf(event, "endpoint"),
        contextWindow: numberOf(event, "context_window"),
        messages: numberOf(event, "messages"),
        tools: numberOf(event, "tools"),
      });
      return;
    case "slot.awaited":
      times.waited = event.at;
      return;
    case "slot.taken":
      times.sent = event.at;
      if (times.waited !== undefined) round.slotMs = Math.max(0, event.at - times.waited);
      return;
    case "request.sent":
      times.sent = event.at;
      round.attempts = Math.max(round.attempts, numberOf(event, "attempt") ?? 1);
      assign(round, { requestBytes: numberOf(event, "bytes") });
      return;
    case "model.started": {
      times.started = event.at;
      const from = times.sent ?? times.asked;
      if (from !== undefined) round.firstTokenMs = Math.max(0, event.at - from);
      return;
    }
    case "model.finished":
      finish(event, round, times);
      return;
    case "model.failed":
      assign(round, { error: errorOf(event) });
      return;
    case "call.checked":
      round.calls.push(readCall(event));
      return;
    default:
  }
}

function finish(event: TraceEvent, round: Reading, { started }: Times): void {
  const usage = (event["usage"] ?? {}) as Record<string, unknown>;
  const timings = (event["timings"] ?? {}) as Record<string, unknown>;
  assign(round, {
    finishReason: textOf(event, "finish_reason"),
    inputTokens: count(usage["input_tokens"]),
    outputTokens: count(usage["output_tokens"]),
    cachedTokens: count(usage["cached_tokens"]),
  });
  if (started !== undefined) round.generationMs = Math.max(0, event.at - started);
  const seconds = (round.generationMs ?? 0) / 1_000;
  const own = seconds > 0 && round.outputTokens !== undefined ? round.outputTokens / seconds : undefined;
  assign(round, { tokensPerSecond: count(timings["predicted_per_second"]) ?? own });
}

function readCall(event: TraceEvent): RoundCall {
  const decision = textOf(event, "decision") ?? "";
  return {
    callId: textOf(event, "call_id") ?? "",
    name: textOf(event, "name") ?? "",
    decision,
    ...(decision === "reject" && { rejection: rejectionOf(event) }),
    doubts: Array.isArray(event["doubts"]) ? event["doubts"].map(String) : [],
  };
}

/** Sets what is known, and leaves the rest. */
function assign<T extends object>(to: T, from: { [K in keyof T]?: T[K] | undefined }): void {
  for (const [name, value] of Object.entries(from))
    if (value !== undefined) (to as Record<string, unknown>)[name] = value;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
