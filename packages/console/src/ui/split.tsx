// A list with the chosen thing beside it. Where there is little room, one of both.

import type { ComponentChildren } from "preact";
import { Icon } from "./icon.tsx";
import "./split.css";

export interface SplitProps {
  /** What is in the list, for screen readers: "Tools". */
  readonly label: string;
  readonly list: ComponentChildren;
  /** Whether the reader chose one: else a narrow page shows the list. */
  readonly isChosen: boolean;
  /** Where a narrow page goes back to the list. */
  readonly listLink: string;
  readonly children: ComponentChildren;
}

export function Split({ label, list, isChosen, listLink, children }: SplitProps) {
  return (
    <div class={`split ${isChosen ? "chosen" : ""}`}>
      <nav class="split-list" aria-label={label}>
        {list}
      </nav>
      <div class="split-detail">
        <a class="split-back" href={listLink}>
          <Icon name="chevron" /> All {label.toLowerCase()}
        </a>
        {children}
      </div>
    </div>
  );
}
