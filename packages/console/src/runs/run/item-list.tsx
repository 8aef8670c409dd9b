// The items of a run: its input, then its output. Only those in view are in the page.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Cell } from "../../ui/list-cell.tsx";
import { type ListHandle, VirtualList } from "../../ui/virtual-list.tsx";
import type { ItemRow } from "../trace/items.ts";
import { ItemView } from "./item-view.tsx";
import "./item-list.css";

export interface ItemListProps {
  readonly rows: readonly ItemRow[];
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
  /** Where a message can be edited; undefined while that is not known. */
  readonly threadId: string | undefined;
  readonly runId: string;
  readonly hasMoreInput: boolean;
  readonly onMoreInput: () => void;
  readonly isLive: boolean;
}

const estimatedHeight = 96;

export function ItemList(props: ItemListProps) {
  const { selected, onSelect, threadId, runId, hasMoreInput, onMoreInput, isLive } = props;
  const rows = useStableRows(props.rows);
  const handle = useRef<ListHandle | null>(null);
  const opened = useSignal<ReadonlySet<string>>(new Set());
  const hasRows = rows.length > 0;
  useEffect(() => {
    // One that was selected in the timeline may be far away.
    if (selected !== undefined) handle.current?.show(selected);
  }, [selected, hasRows]);
  if (!hasRows) return <p class="empty">There are no items yet.</p>;
  return (
    <VirtualList
      class="item-rows"
      label="Items"
      handle={handle}
      rows={rows}
      keyOf={({ key }) => key}
      rowHeight={estimatedHeight}
      isMeasured
      inputs={[opened.value, threadId]}
      activeKey={selected}
      isOpenEnded={hasMoreInput}
      onMove={({ key }) => onSelect(key)}
      onOpen={({ key }) => onSelect(key)}
      onRange={(first) => {
        if (hasMoreInput && first < 10) onMoreInput();
      }}
      {...(isLive && { follows: "end" as const })}
      render={(row) => (
        <Cell>
          <ItemView
            row={row}
            isOpen={opened.value.has(row.key)}
            onToggle={() => {
              const next = new Set(opened.peek());
              if (!next.delete(row.key)) next.add(row.key);
              opened.value = next;
            }}
            threadId={threadId}
            runId={runId}
          />
        </Cell>
      )}
    />
  );
}

/** The same objects for rows that did not change, so that they are not drawn again. */
function useStableRows(rows: readonly ItemRow[]): readonly ItemRow[] {
  const known = useRef(new Map<string, ItemRow>());
  const seen = useRef<readonly ItemRow[]>([]);
  const stable = useRef<readonly ItemRow[]>([]);
  if (rows === seen.current) return stable.current;
  seen.current = rows;
  stable.current = rows.map((row) => {
    const before = known.current.get(row.key);
    return before && isSame(before, row) ? before : row;
  });
  known.current = new Map(stable.current.map((row) => [row.key, row]));
  return stable.current;
}

function isSame(a: ItemRow, b: ItemRow): boolean {
  return (
    a.item === b.item && a.answer === b.answer && a.callId === b.callId && a.doubts.length === b.doubts.length
  );
}
