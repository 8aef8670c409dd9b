// The details of one lane: its times, what went wrong, and for an answer what it cost.

import type { ComponentChildren } from "preact";
import { formatBytes, formatDuration, formatNumber } from "../../ui/format.ts";
import { type TraceEvent, textOf } from "../trace/events.ts";
import type { Lane } from "../trace/lane-book.ts";
import type { Round } from "../trace/rounds.ts";
import { ContextMeter } from "./context-meter.tsx";
import { kindWords } from "./legend.tsx";

export interface LaneDetailsProps {
  readonly lane: Lane;
  readonly round: Round | undefined;
  readonly events: readonly TraceEvent[];
  readonly onRaw: (answer: number) => void;
}

/** The bars that are named one by one. */
const maxBars = 12;

export function LaneDetails({ lane, round, events, onRaw }: LaneDetailsProps) {
  const { label, bars, doubts, error, kind } = lane;
  const turn =
    kind === "turn" ? events.find((event) => `turn:${textOf(event, "turn_id")}` === lane.id) : undefined;
  const problems = new Set([
    ...(error === undefined ? [] : [error]),
    ...bars.flatMap((bar) => bar.error ?? []),
  ]);
  return (
    <section class="lane-details stack" aria-label={`Details of ${label}`}>
      <div class="row">
        <h2 class="grow one-line">{label}</h2>
        {round && (
          <button class="button" type="button" onClick={() => onRaw(round.answer)}>
            Request and chunks
          </button>
        )}
      </div>
      {[...problems].map((problem) => (
        <p key={problem} class="notice bad">
          {problem}
        </p>
      ))}
      {doubts.length > 0 && (
        <p class="notice warn">
          Doubtful: {doubts.join(", ")}. What was read may not be what the model meant.
        </p>
      )}
      {round && <ContextMeter round={round} />}
      <dl class="facts">
        {bars.slice(0, maxBars).map((bar) => (
          <Fact key={bar.id} name={kindWords[bar.kind]}>
            {formatDuration(bar.to - bar.from)}
            {bar.isOpen && " so far"} <span class="soft">from {formatDuration(bar.from)}</span>
          </Fact>
        ))}
        {bars.length > maxBars && <Fact name="And more">{formatNumber(bars.length - maxBars)}</Fact>}
        {round && <RoundFacts round={round} />}
        {turn && <Fact name="Call">{textOf(turn, "call_id") ?? "–"}</Fact>}
      </dl>
    </section>
  );
}

function RoundFacts({ round }: { readonly round: Round }) {
  const { model, endpoint, messages, tools, firstTokenMs, tokensPerSecond, outputTokens, requestBytes } =
    round;
  return (
    <>
      {firstTokenMs !== undefined && <Fact name="First token">{formatDuration(firstTokenMs)}</Fact>}
      {tokensPerSecond !== undefined && <Fact name="Speed">{`${tokensPerSecond.toFixed(1)} tokens/s`}</Fact>}
      {outputTokens !== undefined && <Fact name="Written">{`${formatNumber(outputTokens)} tokens`}</Fact>}
      {round.finishReason !== undefined && <Fact name="Ended with">{round.finishReason}</Fact>}
      {round.attempts > 1 && <Fact name="Attempts">{round.attempts}</Fact>}
      {messages !== undefined && <Fact name="Messages">{formatNumber(messages)}</Fact>}
      {tools !== undefined && <Fact name="Tools">{formatNumber(tools)}</Fact>}
      {requestBytes !== undefined && <Fact name="Request">{formatBytes(requestBytes)}</Fact>}
      {model !== undefined && <Fact name="Model">{model}</Fact>}
      {endpoint !== undefined && <Fact name="Endpoint">{endpoint}</Fact>}
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">{children}</dd>
    </div>
  );
}
