// The cells of a virtual list, which is a grid for screen readers.

import type { ComponentChildren } from "preact";

/** Not elements of a table: rows of a virtual list stand at places of their own. */
export const gridRoles = { grid: "grid", group: "rowgroup", row: "row" } as const;

export interface CellProps {
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Cell(props: CellProps) {
  const role = "gridcell" as const;
  return <div {...props} role={role} />;
}

/** The row with the names of the columns. */
export function HeadRow({
  class: name = "",
  columns,
}: {
  readonly class?: string;
  readonly columns: readonly string[];
}) {
  const role = "columnheader" as const;
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: its role is row
    <div class={name} role={gridRoles.row} aria-rowindex={1}>
      {columns.map((column) => (
        <div key={column} role={role}>
          {column}
        </div>
      ))}
    </div>
  );
}
