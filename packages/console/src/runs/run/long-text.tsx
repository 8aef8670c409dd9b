// A text of any length. A long one is shown line by line, and only the lines in view are in the page.

import { useMemo } from "preact/hooks";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Cell } from "../../ui/list-cell.tsx";
import { VirtualList } from "../../ui/virtual-list.tsx";

export interface LongTextProps {
  readonly label: string;
  readonly text: string;
}

const plainChars = 20_000;
/** A line is broken there: one of a megabyte would be laid out whole. */
const maxLineChars = 2_000;
const lineHeight = 19;

export function LongText({ label, text }: LongTextProps) {
  if (text.length <= plainChars) return <CodeBlock label={label}>{text}</CodeBlock>;
  return <Lines label={label} text={text} />;
}

function Lines({ label, text }: LongTextProps) {
  const lines = useMemo(() => toLines(text), [text]);
  return (
    <VirtualList
      class="code long-text"
      label={label}
      rows={lines}
      keyOf={({ number }) => String(number)}
      rowHeight={lineHeight}
      isMeasured
      render={({ line }) => <Cell>{line === "" ? " " : line}</Cell>}
    />
  );
}

interface Line {
  readonly number: number;
  readonly line: string;
}

function toLines(text: string): Line[] {
  const lines: Line[] = [];
  for (const line of text.split("\n"))
    for (let at = 0; at === 0 || at < line.length; at += maxLineChars)
      lines.push({ number: lines.length, line: line.slice(at, at + maxLineChars) });
  return lines;
}
