// The frame of one page: its title, its actions, and its content.

import type { ComponentChildren } from "preact";

export interface PageFrameProps {
  readonly title: ComponentChildren;
  /** Buttons beside the title. Default: none. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function PageFrame({ title, actions, children }: PageFrameProps) {
  return (
    <div class="page">
      <div class="page-head">
        <h1 class="grow">{title}</h1>
        {actions}
      </div>
      {children}
    </div>
  );
}
