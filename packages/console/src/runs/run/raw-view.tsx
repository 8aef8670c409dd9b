// The exact request to the model server, and the raw bytes of its answer beside what was read of them.

import { useMemo } from "preact/hooks";
import { get } from "../../api/api.ts";
import { useLoaded } from "../../api/load.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { numberOf, type Trace, textOf } from "../trace/events.ts";
import type { ItemRow } from "../trace/items.ts";
import type { Round } from "../trace/rounds.ts";
import { LongText } from "./long-text.tsx";
import type { RunState } from "./run-state.ts";

export interface RawViewProps {
  readonly state: RunState;
  readonly rounds: readonly Round[];
  readonly rows: readonly ItemRow[];
  readonly answer: number;
  readonly onAnswer: (answer: number) => void;
}

export function RawView({ state, rounds, rows, answer, onAnswer }: RawViewProps) {
  const isOver = state.trace.value?.is_over;
  const loaded = useLoaded(
    (signal) =>
      get<Trace>(`v1/responses/${encodeURIComponent(state.id)}/trace?include=requests,chunks`, { signal }),
    [state.id, isOver],
  );
  const trace = loaded.value.value;
  const raw = useMemo(() => (trace ? readRaw(trace, answer) : undefined), [trace, answer]);
  if (loaded.error.value)
    return (
      <ErrorNotice
        title="The trace could not be loaded."
        message={loaded.error.value.message}
        onRetry={loaded.reload}
      />
    );
  if (!trace || !raw)
    return (
      <p class="row soft">
        <Spinner /> Loading …
      </p>
    );
  if (trace.level !== "full") return <NotKept />;
  const round = rounds.find((each) => each.answer === answer);
  const read = rows.filter((row) => row.isOutput && row.answer === answer);
  return (
    <div class="raw stack">
      <label class="row">
        <span class="soft">Answer</span>
        <select
          class="input raw-answer"
          value={String(answer)}
          onChange={(event) => onAnswer(Number(event.currentTarget.value))}
        >
          {rounds.map((each) => (
            <option key={each.answer} value={String(each.answer)}>
              {each.answer + 1} {each.finishReason ?? ""}
            </option>
          ))}
        </select>
      </label>
      {raw.requests.map(({ attempt, url, body }) => (
        <section key={attempt} class="stack" aria-label={`Request ${attempt}`}>
          <div class="row">
            <h2 class="grow one-line">
              Request{raw.requests.length > 1 ? `, attempt ${attempt}` : ""}{" "}
              <span class="soft mono">{url}</span>
            </h2>
            <CopyButton text={() => body} />
          </div>
          <LongText label="Request body" text={pretty(body)} />
        </section>
      ))}
      {raw.requests.length === 0 && (
        <p class="notice">
          No request went out: the model is a part of this server, or the request was too long to keep.
        </p>
      )}
      <div class="raw-columns">
        <section class="stack" aria-label="Raw chunks">
          <h2>
            What came{" "}
            <span class="soft">
              in {raw.chunks.length === 1 ? "one piece" : `${raw.chunks.length} pieces`}
            </span>
          </h2>
          {raw.text === "" ? <p class="soft">Nothing.</p> : <LongText label="Raw chunks" text={raw.text} />}
        </section>
        <section class="stack" aria-label="What was read">
          <h2>What was read</h2>
          {read.map((row) => (
            <div key={row.key} class="raw-item">
              <strong>{row.title}</strong>
              {row.doubts.length > 0 && <p class="notice warn">Doubtful: {row.doubts.join(", ")}</p>}
              <LongText label={row.title} text={row.text} />
            </div>
          ))}
          {round?.calls
            .filter(({ decision }) => decision === "reject")
            .map(({ callId, rejection }) => (
              <p key={callId} class="notice bad error-text">
                {rejection}
              </p>
            ))}
        </section>
      </div>
    </div>
  );
}

function NotKept() {
  return (
    <div class="empty">
      <p>The requests and the raw chunks of this run were not kept.</p>
      <p>
        Set <code>traces: full</code> in the config (or start with <code>RONDO_TRACES=full</code>) to keep
        them of the next runs, with what goes into tools and comes out.
      </p>
    </div>
  );
}

interface RawAnswer {
  readonly requests: readonly { readonly attempt: number; readonly url: string; readonly body: string }[];
  readonly chunks: readonly string[];
  readonly text: string;
}

function readRaw({ events }: Trace, answer: number): RawAnswer {
  const own = events.filter((event) => event["answer"] === answer);
  const chunks = own.flatMap((event) => (event.type === "model.chunk" ? (textOf(event, "text") ?? []) : []));
  const requests = own.flatMap((event) => {
    const body = textOf(event, "body");
    if (event.type !== "request.sent" || body === undefined) return [];
    return [{ attempt: numberOf(event, "attempt") ?? 1, url: textOf(event, "url") ?? "", body }];
  });
  return { requests, chunks, text: chunks.join("") };
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
