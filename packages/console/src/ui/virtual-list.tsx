// A list of any length: only the rows in view are in the page. What is in view stays where it is when rows are added
// above it, or turn out to be higher than expected.

import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject, VNode } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { gridRoles } from "./list-cell.tsx";
import { rowForKey } from "./list-keys.ts";
import { ListRow, RowObserver } from "./list-row.tsx";
import { useListScrolling } from "./list-scrolling.ts";
import { equalOffsets, MeasuredRows } from "./row-offsets.ts";
import "./virtual-list.css";

export interface VirtualListProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  /** A key for each row, which no other row has. */
  readonly keyOf: (row: T) => string;
  /** The cells of a row, each with the role `gridcell`. */
  readonly render: (row: T, index: number) => ComponentChildren;
  /** What `render` depends on beside the row: rows are drawn again when it changes. Default: nothing. */
  readonly inputs?: readonly unknown[];
  /** The height of a row in pixels; an estimate if rows are measured. */
  readonly rowHeight: number;
  /** Whether rows have heights of their own. Default: all have the same. */
  readonly isMeasured?: boolean;
  /** A row that stays above the others. Default: none. */
  readonly header?: ComponentChildren;
  /** Comes after the rows. Default: nothing. */
  readonly footer?: ComponentChildren;
  /** The selected row. Default: none. */
  readonly activeKey?: string | undefined;
  /** Keys select another row. Default: they only scroll. */
  readonly onMove?: (row: T) => void;
  /** Enter on the selected row, or a click on any. Default: nothing. */
  readonly onOpen?: (row: T) => void;
  /** Which rows are in view; -1 as the last if there are none. Default: nobody is told. */
  readonly onRange?: (first: number, last: number) => void;
  /** Which end stays in view while it is, so that new rows show there. Default: neither. */
  readonly follows?: "start" | "end";
  /** How far it is scrolled at first. Default: 0. */
  readonly initialTop?: number;
  readonly onScrolled?: (top: number) => void;
  /** Whether there are more rows than these. Default: false. */
  readonly isOpenEnded?: boolean;
  readonly class?: string;
  /** Set to what moves the list from outside. Default: nothing. */
  readonly handle?: RefObject<ListHandle | null>;
}

export interface ListHandle {
  readonly scrollTo: (top: number) => void;
  /** Scrolls as little as needed to show a row. */
  readonly show: (key: string) => void;
}

interface DrawnRow {
  readonly row: unknown;
  readonly index: number;
  readonly top: number;
  readonly isActive: boolean;
  readonly vnode: VNode;
}

export function VirtualList<T>(props: VirtualListProps<T>) {
  const { rows, keyOf, rowHeight, isMeasured = false, activeKey, inputs = [], label, header } = props;
  const box = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const measurements = useSignal(0);
  const heights = useRef(new Map<string, number>()).current;
  const indexes = useMemo(() => new Map(rows.map((row, index) => [keyOf(row), index])), [rows]);
  const measured = useMemo(
    () =>
      isMeasured
        ? new MeasuredRows(rows.length, rowHeight, (index) => heights.get(keyOf(rows[index] as T)))
        : undefined,
    [rows, rowHeight, isMeasured],
  );
  const offsets = useMemo(
    () => measured?.offsets() ?? equalOffsets(rows.length, rowHeight),
    [measured, rows, rowHeight, measurements.value],
  );
  const known = useRef({ indexes, measured });
  known.current = { indexes, measured };
  const observer = useMemo(
    () =>
      isMeasured
        ? new RowObserver((found) => {
            let hasChanged = false;
            for (const [key, height] of found) {
              heights.set(key, height);
              const index = known.current.indexes.get(key) ?? -1;
              if (known.current.measured?.set(index, height)) hasChanged = true;
            }
            if (hasChanged) measurements.value += 1;
          })
        : undefined,
    [isMeasured],
  );
  useEffect(() => () => observer?.disconnect(), [observer]);
  const scrolling = useListScrolling({
    box,
    head,
    offsets,
    count: rows.length,
    keyAt: (index) => keyOf(rows[index] as T),
    indexOf: (key) => indexes.get(key) ?? -1,
    follows: props.follows,
    initialTop: props.initialTop ?? 0,
    onRange: props.onRange,
    onScrolled: props.onScrolled,
  });

  if (props.handle)
    props.handle.current = {
      scrollTo: scrolling.scrollTo,
      show: (key) => {
        const index = indexes.get(key);
        if (index !== undefined) scrolling.show(index);
      },
    };

  // A row that did not change is the same node again, which is not even compared.
  const drawn = useRef(new Map<string, DrawnRow>());
  useMemo(() => drawn.current.clear(), [...inputs, rowHeight]);
  const latest = useRef(props);
  latest.current = props;
  const idOf = (key: string) => `${label}-${key}`.replace(/\s/g, "-");
  const next = new Map<string, DrawnRow>();
  const { first, last } = scrolling.range.value;
  for (let index = first; index <= Math.min(last, rows.length - 1); index += 1) {
    const row = rows[index] as T;
    const key = keyOf(row);
    const place = { row, index, top: offsets.top(index), isActive: key === activeKey };
    const before = drawn.current.get(key);
    if (before && isSame(before, place)) next.set(key, before);
    else
      next.set(key, {
        ...place,
        vnode: (
          <ListRow
            key={key}
            id={idOf(key)}
            rowKey={key}
            position={index + (header ? 2 : 1)}
            top={place.top}
            height={isMeasured ? undefined : rowHeight}
            isActive={place.isActive}
            observer={observer}
            onClick={(event) => {
              if (!event.defaultPrevented) latest.current.onOpen?.(row);
            }}
          >
            {props.render(row, index)}
          </ListRow>
        ),
      });
  }
  drawn.current = next;

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== box.current) return;
    const current = activeKey === undefined ? -1 : (indexes.get(activeKey) ?? -1);
    const selected = rows[current];
    if (event.key === "Enter" && selected !== undefined) {
      event.preventDefault();
      props.onOpen?.(selected);
    }
    if (!props.onMove) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / rowHeight) - 1);
    const position = { current, count: rows.length, page, firstInView: scrolling.firstInView() };
    const target = rowForKey(event, position);
    if (target === undefined) return;
    event.preventDefault();
    props.onMove(rows[target] as T);
    scrolling.show(target);
  };

  const count = rows.length + (header ? 1 : 0);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its role is grid
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: its role is grid
    <div
      class={`virtual-list ${props.class ?? ""}`}
      ref={box}
      role={gridRoles.grid}
      aria-label={label}
      aria-rowcount={props.isOpenEnded ? -1 : count}
      aria-activedescendant={activeKey !== undefined && next.has(activeKey) ? idOf(activeKey) : undefined}
      tabIndex={0}
      onScroll={scrolling.scrolled}
      onKeyDown={onKeyDown}
    >
      {header && (
        <div class="virtual-list-head" ref={head} role={gridRoles.group}>
          {header}
        </div>
      )}
      <div class="virtual-list-rows" role={gridRoles.group} style={{ height: `${offsets.total}px` }}>
        {[...next.values()].map(({ vnode }) => vnode)}
      </div>
      {props.footer}
    </div>
  );
}

function isSame(known: DrawnRow, place: Omit<DrawnRow, "vnode">): boolean {
  return (
    known.row === place.row &&
    known.index === place.index &&
    known.top === place.top &&
    known.isActive === place.isActive
  );
}
