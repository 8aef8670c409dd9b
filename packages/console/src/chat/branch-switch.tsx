// Moves between the branches of a message: ‹ 2/3 ›.

import { useLayoutEffect, useRef } from "preact/hooks";

export interface BranchSwitchProps {
  /** From 0. */
  readonly position: number;
  readonly count: number;
  /** Whether a person switched to this branch: then the focus stays here. */
  readonly takesFocus: boolean;
  readonly onPrevious: () => void;
  readonly onNext: () => void;
}

export function BranchSwitch({ position, count, takesFocus, onPrevious, onNext }: BranchSwitchProps) {
  const buttons = useRef<HTMLFieldSetElement>(null);
  // At once: a frame later, a person may write somewhere else already.
  useLayoutEffect(() => {
    if (takesFocus) buttons.current?.querySelector<HTMLElement>("button:enabled")?.focus();
  }, []);
  if (count < 2) return null;
  return (
    <fieldset class="branch-switch" ref={buttons} aria-label="Branches">
      <button
        class="button quiet"
        type="button"
        aria-label="Previous branch"
        disabled={position <= 0}
        onClick={onPrevious}
      >
        ‹
      </button>
      <span class="number soft">
        {position + 1}/{count}
      </span>
      <button
        class="button quiet"
        type="button"
        aria-label="Next branch"
        disabled={position >= count - 1}
        onClick={onNext}
      >
        ›
      </button>
    </fieldset>
  );
}
