// The table of runs: a virtual list, which reads more at both ends as one scrolls.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { RunSummary } from "../../api/types.ts";
import { linkTo } from "../../shell/router.ts";
import { formatNumber, formatTime } from "../../ui/format.ts";
import { Cell, HeadRow } from "../../ui/list-cell.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { type ListHandle, VirtualList } from "../../ui/virtual-list.tsx";
import { Duration } from "../duration.tsx";
import type { RunList } from "./run-list.ts";

export interface RunTableProps {
  readonly list: RunList;
  readonly onOpen: (id: string) => void;
  /** The run above the first one in view; undefined at the top. */
  readonly onPlace: (id: string | undefined) => void;
}

/** As in list.css. */
const rowHeight = { wide: 44, narrow: 68 };
const narrow = matchMedia("(max-width: 52rem)");
const placeMs = 400;
const columns = ["Title", "Status", "Model", "Duration", "Tokens", "Started"];

export function RunTable({ list, onOpen, onPlace }: RunTableProps) {
  const isNarrow = useSignal(narrow.matches);
  const handle = useRef<ListHandle | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const top = useSignal(list.scrollTop);
  useEffect(() => {
    const changed = () => {
      isNarrow.value = narrow.matches;
    };
    narrow.addEventListener("change", changed);
    return () => {
      narrow.removeEventListener("change", changed);
      clearTimeout(timer.current);
    };
  }, []);
  const { count, to } = list.jumps.value;
  useEffect(() => {
    if (count > 0) handle.current?.scrollTo(to === "start" ? 0 : Number.MAX_SAFE_INTEGER);
  }, [list, count]);

  const { rows, hasNewer, hasOlder } = list.window.value;
  const notePlace = (first: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => onPlace(first === 0 && !hasNewer ? undefined : rows[first - 1]?.id),
      placeMs,
    );
  };
  return (
    <div
      class="run-table"
      onKeyDownCapture={(event) => {
        if (event.key !== "End" && event.key !== "Home") return;
        const isBeyond = event.key === "End" ? hasOlder : hasNewer;
        if (!isBeyond || (event.target as Element).getAttribute("role") !== "grid") return;
        event.preventDefault();
        event.stopPropagation();
        void list.jump(event.key === "End" ? "end" : "start");
      }}
    >
      <VirtualList
        class="run-rows"
        label="Runs"
        handle={handle}
        rows={rows}
        keyOf={keyOf}
        rowHeight={isNarrow.value ? rowHeight.narrow : rowHeight.wide}
        render={renderRow}
        header={<HeadRow class="run-row run-head" columns={columns} />}
        activeKey={list.activeKey.value}
        isOpenEnded={hasOlder || hasNewer}
        {...(!hasNewer && { follows: "start" as const })}
        initialTop={list.scrollTop}
        onScrolled={(scrolled) => {
          list.scrollTop = scrolled;
          top.value = scrolled;
        }}
        onRange={(first, last) => {
          list.inView(first, last);
          notePlace(first);
        }}
        onMove={({ id }) => {
          list.activeKey.value = id;
        }}
        onOpen={({ id }) => {
          list.activeKey.value = id;
          onOpen(id);
        }}
      />
      <div class="run-table-foot soft" role="status">
        {list.isReadingOlder.value || !list.isLoaded.value ? (
          <span class="row">
            <Spinner /> {rows.length === 0 ? "Looking for runs …" : "Reading older runs …"}
          </span>
        ) : (
          <span>{hasOlder ? "Scroll for older runs" : "These are the oldest runs"}</span>
        )}
        <span class="grow" />
        {(hasNewer || top.value > 0) && (
          <button class="button quiet" type="button" onClick={() => void list.jump("start")}>
            Newest
          </button>
        )}
        {hasOlder && (
          <button class="button quiet" type="button" onClick={() => void list.jump("end")}>
            Oldest
          </button>
        )}
      </div>
    </div>
  );
}

function keyOf({ id }: RunSummary): string {
  return id;
}

function renderRow(run: RunSummary) {
  const {
    id,
    title,
    status,
    model,
    background,
    source,
    created_at_ms: from,
    completed_at_ms: to,
    usage,
  } = run;
  return (
    <div class="run-row" role="presentation">
      <Cell class="run-title">
        <a
          class="one-line"
          href={linkTo("runs", [id])}
          tabIndex={-1}
          onClick={(event) => event.stopPropagation()}
        >
          {title || id}
        </a>
        {background && <span class="run-tag">background</span>}
        {source && <span class="run-tag one-line">{source}</span>}
      </Cell>
      <Cell class="run-status">
        <StatusBadge status={status} />
      </Cell>
      <Cell class="run-model one-line soft">{model}</Cell>
      <Cell class="run-duration number">
        <Duration fromMs={from} toMs={to} status={status} />
      </Cell>
      <Cell class="run-tokens number">
        {usage ? formatNumber(usage.total_tokens) : <span class="soft">–</span>}
      </Cell>
      <Cell class="run-started number soft">{formatTime(from)}</Cell>
    </div>
  );
}
