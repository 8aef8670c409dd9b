// The moments of a run that stand above its lanes, in words.

import { formatDuration } from "../../ui/format.ts";
import type { Mark } from "../trace/lane-book.ts";

/** More are only in the waterfall. */
const maxMarks = 20;

export function MarkList({ marks }: { readonly marks: readonly Mark[] }) {
  if (marks.length === 0) return null;
  return (
    <ul class="mark-list" aria-label="Remarkable">
      {marks.slice(0, maxMarks).map(({ id, at, kind, label }) => (
        <li key={id}>
          <span class={`mark-sign ${kind}`} />
          <span class="number soft">{formatDuration(at)}</span>
          <span>{label}</span>
        </li>
      ))}
    </ul>
  );
}
