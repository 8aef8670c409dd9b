// Where a chat writes: the answer to standard output, what stands beside it there too on a terminal, else to
// standard error.

import type { CliIo } from "../cli-io.ts";
import { LineWriter } from "../terminal/lines.ts";
import { createStyle, hasColours, type Style } from "../terminal/style.ts";
import { withoutControls } from "../terminal/text.ts";

export interface Screen {
  /** For the answer. */
  readonly answer: LineWriter;
  /** For all that is not the answer. */
  readonly aside: LineWriter;
  readonly style: Style;
  /** Whether a person types here, and lines that move can be shown. */
  readonly isInteractive: boolean;
  /** The width of lines beside the answer. */
  columns(): number;
}

/** How much of a call or a result is shown where lines have no width. */
const plainColumns = 200;
const fewestColumns = 20;

/** Whether a person types here: both ends are terminals that can move the cursor. */
function isInteractive({ input, output, env }: CliIo): boolean {
  return input.isTTY === true && output.isTTY === true && env["TERM"] !== "dumb";
}

export function createScreen(io: CliIo): Screen {
  const isOutTerminal = io.output.isTTY === true;
  const columns = () =>
    isOutTerminal ? Math.max(fewestColumns, (io.output.columns ?? 80) - 1) : plainColumns;
  const write = (text: string) => io.write(text);
  const writeError = (text: string) => io.writeError(text);
  if (isInteractive(io)) {
    const both = new LineWriter(write);
    const style = createStyle(hasColours(true, io.env));
    return { answer: both, aside: both, style, isInteractive: true, columns };
  }
  const cursor = { isAtStart: true };
  return {
    answer: new LineWriter(write, cursor),
    // Where both are shown in one window they share its lines; else each has its own.
    aside: new LineWriter(writeError, isOutTerminal && io.isErrorTerminal ? cursor : { isAtStart: true }),
    style: createStyle(hasColours(io.isErrorTerminal, io.env)),
    isInteractive: false,
    columns,
  };
}

/** What a model or a tool says, as this output may have it: a file gets all, a terminal nothing that drives it. */
export function cleaner(io: CliIo): (text: string) => string {
  return io.output.isTTY === true || io.isErrorTerminal ? withoutControls : (text) => text;
}
