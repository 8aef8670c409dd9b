// The rounds of a run in figures.

import { formatDuration, formatNumber } from "../../ui/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { Cell, HeadRow } from "../../ui/list-cell.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";
import type { Round } from "../trace/rounds.ts";
import { ContextMeter } from "./context-meter.tsx";

export interface RoundTableProps {
  readonly rounds: readonly Round[];
  /** Shows an answer in the timeline. */
  readonly onOpen: (answer: number) => void;
}

/** As in run.css. */
const rowHeight = 72;

export function RoundTable({ rounds, onOpen }: RoundTableProps) {
  if (rounds.length === 0) return <p class="empty">The model was not asked yet, or there is no trace.</p>;
  return (
    <VirtualList
      class="round-rows"
      label="Rounds"
      rows={rounds}
      keyOf={({ answer }) => String(answer)}
      rowHeight={rowHeight}
      onOpen={({ answer }) => onOpen(answer)}
      header={
        <HeadRow
          class="round-row round-head"
          columns={["Answer", "Context", "First token", "Speed", "Written"]}
        />
      }
      render={renderRound}
    />
  );
}

function renderRound(round: Round) {
  const { answer, firstTokenMs, tokensPerSecond, outputTokens, finishReason, error, calls } = round;
  const doubts = new Set(calls.flatMap((call) => call.doubts));
  return (
    <div class="round-row" role="presentation">
      <Cell>
        <div>
          <strong>{answer + 1}</strong> <span class="soft">{finishReason}</span>
        </div>
        {error !== undefined && <div class="lane-error one-line">{error}</div>}
        {calls.length > 0 && (
          <div class="soft one-line" title={calls.map(({ name }) => name).join(", ")}>
            {calls.length === 1 ? calls[0]?.name : `${calls.length} calls`}
          </div>
        )}
        {doubts.size > 0 && (
          <span class="lane-doubt" title={`Doubtful: ${[...doubts].join(", ")}`}>
            <Icon name="warning" /> Doubtful
          </span>
        )}
      </Cell>
      <Cell>
        <ContextMeter round={round} />
      </Cell>
      <Cell class="number">{firstTokenMs === undefined ? "–" : formatDuration(firstTokenMs)}</Cell>
      <Cell class="number">{tokensPerSecond === undefined ? "–" : `${tokensPerSecond.toFixed(1)}/s`}</Cell>
      <Cell class="number">{outputTokens === undefined ? "–" : formatNumber(outputTokens)}</Cell>
    </div>
  );
}
