// One row of a virtual list, at its place, and measured if rows have heights of their own.

import { Component, type ComponentChildren } from "preact";
import { gridRoles } from "./list-cell.tsx";

export interface ListRowProps {
  readonly id: string;
  readonly rowKey: string;
  /** From 1, with the header. */
  readonly position: number;
  readonly top: number;
  /** Undefined for a row that is measured. */
  readonly height: number | undefined;
  readonly isActive: boolean;
  readonly observer: RowObserver | undefined;
  readonly onClick: (event: MouseEvent) => void;
  readonly children: ComponentChildren;
}

export class ListRow extends Component<ListRowProps> {
  #element: HTMLDivElement | null = null;

  override componentDidMount(): void {
    if (this.#element) this.props.observer?.observe(this.#element, this.props.rowKey);
  }

  override componentWillUnmount(): void {
    if (this.#element) this.props.observer?.unobserve(this.#element);
  }

  override render({ id, position, top, height, isActive, onClick, children }: ListRowProps) {
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the keys
      // biome-ignore lint/a11y/noStaticElementInteractions: its role is row
      // biome-ignore lint/a11y/useAriaPropsSupportedByRole: its role is row
      <div
        id={id}
        class="virtual-list-row"
        role={gridRoles.row}
        aria-rowindex={position}
        aria-selected={isActive}
        ref={(element) => {
          if (element) this.#element = element;
        }}
        style={{ top: `${top}px`, ...(height !== undefined && { height: `${height}px` }) }}
        onClick={onClick}
      >
        {children}
      </div>
    );
  }
}

/** Measures rows when they are shown, and when they change. */
export class RowObserver {
  readonly #keys = new WeakMap<Element, string>();
  readonly #observer: ResizeObserver;

  constructor(onMeasured: (heights: ReadonlyMap<string, number>) => void) {
    this.#observer = new ResizeObserver((entries) => {
      const heights = new Map<string, number>();
      for (const { target, borderBoxSize } of entries) {
        const key = this.#keys.get(target);
        const height = borderBoxSize[0]?.blockSize ?? 0;
        if (key !== undefined && height > 0) heights.set(key, height);
      }
      onMeasured(heights);
    });
  }

  observe(element: Element, key: string): void {
    this.#keys.set(element, key);
    this.#observer.observe(element);
  }

  unobserve(element: Element): void {
    this.#observer.unobserve(element);
  }

  disconnect(): void {
    this.#observer.disconnect();
  }
}
