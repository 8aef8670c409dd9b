// One run: what it did and when, what was said, and what can be done with it.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiError } from "../../api/api.ts";
import { reconnects } from "../../api/connection.ts";
import { isRunning, type ResponseObject } from "../../api/response.ts";
import { linkTo, type Place, replacePlace } from "../../shell/router.ts";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { inputRows, outputRows } from "../trace/items.ts";
import { readRounds } from "../trace/rounds.ts";
import { Approvals } from "./approvals.tsx";
import { ItemList } from "./item-list.tsx";
import { Notices } from "./notices.tsx";
import { RunHead } from "./run-head.tsx";
import { RunState } from "./run-state.ts";
import { RunTabs } from "./run-tabs.tsx";
import { itemFor, laneFor } from "./selection.ts";
import { Timeline } from "./timeline.tsx";
import "./run.css";

export interface RunPageProps {
  readonly id: string;
  readonly place: Place;
}

export function RunPage({ id, place }: RunPageProps) {
  const state = useMemo(() => new RunState(id), [id]);
  useEffect(() => state.show(), [state, reconnects.value]);
  const response = state.response.value;
  if (response) return <Run state={state} response={response} place={place} />;
  const error = state.error.value;
  return (
    <div class="page">
      {error ? (
        <div class="stack">
          <ErrorNotice
            title="This run could not be loaded."
            message={
              isMissing(error)
                ? `${error.message} It may have been deleted, or it is not yours.`
                : error.message
            }
            onRetry={() => void state.reload()}
          />
          <a href={linkTo("runs")}>All runs</a>
        </div>
      ) : (
        <p class="row soft" role="status">
          <Spinner /> Loading the run …
        </p>
      )}
    </div>
  );
}

function isMissing(error: Error): boolean {
  return error instanceof ApiError && error.status === 404;
}

interface RunProps {
  readonly state: RunState;
  readonly response: ResponseObject;
  readonly place: Place;
}

function Run({ state, response, place }: RunProps) {
  const rounds = useComputed(() => readRounds(state.events.value));
  const input = useComputed(() => inputRows(state.input.value));
  const output = useComputed(() => outputRows(state.output.value, rounds.value));
  const rows = useComputed(() => [...input.value, ...output.value]);
  const lane = useSignal(place.query.get("lane") ?? undefined);
  const item = useSignal(place.query.get("item") ?? undefined);
  const tab = place.query.get("tab") ?? "timeline";
  const go = (changed: Record<string, string | undefined>) => {
    const query = { ...Object.fromEntries(place.query), ...changed };
    const set = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    );
    replacePlace(linkTo("runs", [state.id], Object.fromEntries(set) as Record<string, string>));
  };
  const selectLane = (id: string) => {
    lane.value = id;
    item.value = itemFor(id, rows.peek(), state.events.peek()) ?? item.peek();
    go({ lane: lane.value, item: item.value });
  };
  const selectItem = (key: string) => {
    item.value = key;
    const found = rows.peek().find((row) => row.key === key);
    lane.value = (found && laneFor(found, state.events.peek())) ?? lane.peek();
    go({ lane: lane.value, item: key });
  };
  const live = isRunning(response);
  return (
    <div class="page run-page">
      <RunHead state={state} response={response} />
      <Notices response={response} trace={state.trace.value} />
      <Approvals state={state} response={response} />
      <div class="run-columns">
        <section class="run-left" aria-label="What happened">
          <RunTabs
            chosen={tab}
            onChoose={(chosen) => go({ tab: chosen })}
            timeline={() => (
              <Timeline
                state={state}
                rounds={rounds.value}
                selected={lane.value}
                onSelect={selectLane}
                onRaw={(answer) => go({ tab: "raw", answer: String(answer) })}
                isLive={live}
              />
            )}
            state={state}
            rounds={rounds.value}
            rows={rows.value}
            answer={Number(place.query.get("answer") ?? 0)}
            onAnswer={(answer) => go({ answer: String(answer) })}
            onLane={(answer) => {
              lane.value = `answer:${answer}`;
              item.value = itemFor(lane.value, rows.peek(), state.events.peek()) ?? item.peek();
              go({ tab: undefined, lane: lane.value, item: item.value });
            }}
          />
        </section>
        <section class="run-right" aria-label="Items">
          <ItemList
            rows={rows.value}
            selected={item.value}
            onSelect={selectItem}
            threadId={state.summary.value?.thread_id}
            runId={state.id}
            hasMoreInput={state.hasMoreInput.value}
            onMoreInput={() => void state.readMoreInput()}
            isLive={live}
          />
        </section>
      </div>
    </div>
  );
}
