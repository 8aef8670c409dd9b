// What a tool gave: how long it took, and its output.

import type { ToolOutcome } from "../api/inspect-types.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { formatDuration, formatNumber } from "../ui/format.ts";

/** More is not drawn: the page stays fast. Copy gives all of it. */
const shownLimit = 100_000;

export function ToolResult({ outcome }: { readonly outcome: ToolOutcome }) {
  const text = textOf(outcome.output);
  const rest = text.length - shownLimit;
  return (
    <div class="stack" role="status" aria-label="Result">
      <div class="row">
        <span class={`badge ${outcome.is_error ? "bad" : "good"}`}>
          {outcome.is_error ? "Error" : "Done"}
        </span>
        <span class="soft number grow">{formatDuration(outcome.duration_ms)}</span>
        <CopyButton text={() => text} />
      </div>
      <CodeBlock label="Output">
        {text === "" ? "(no output)" : text.slice(0, shownLimit)}
        {rest > 0 && `\n… ${formatNumber(rest)} characters more`}
      </CodeBlock>
      {outcome.is_cut && <p class="soft">The server sent only the beginning: the output is too long.</p>}
    </div>
  );
}

/** Text as it is, and JSON in lines. */
function textOf(output: string): string {
  if (!/^\s*[[{]/.test(output) || output.length > shownLimit) return output;
  try {
    return JSON.stringify(JSON.parse(output), null, 2);
  } catch {
    return output;
  }
}
