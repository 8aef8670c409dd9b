// Text as it was written, in lines. It scrolls by itself, also with the keyboard.

import type { ComponentChildren } from "preact";

export interface CodeBlockProps {
  /** What it is, for screen readers. */
  readonly label: string;
  readonly children: ComponentChildren;
}

export function CodeBlock({ label, children }: CodeBlockProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    // biome-ignore lint/a11y/useSemanticElements: a field set is for fields.
    <pre class="code" tabIndex={0} role="group" aria-label={label}>
      {children}
    </pre>
  );
}
