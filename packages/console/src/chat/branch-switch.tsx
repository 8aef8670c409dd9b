// Moves between the branches of a message: ‹ 2/3 ›.

export interface BranchSwitchProps {
  /** From 0. */
  readonly position: number;
  readonly count: number;
  readonly onPrevious: () => void;
  readonly onNext: () => void;
}

export function BranchSwitch({ position, count, onPrevious, onNext }: BranchSwitchProps) {
  if (count < 2) return null;
  return (
    <fieldset class="branch-switch" aria-label="Branches">
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
