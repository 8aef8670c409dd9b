// Where a command writes: the answer to standard output, and what stands beside it there too in a chat at a terminal,
// else to standard error.

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
  /** Whether lines that move can be shown; in a chat, also whether a person types here. */
  readonly isInteractive: boolean;
  /** The width of lines beside the answer. */
  columns(): number;
}

/** How much of a call or a result is shown where lines have no width. */
const plainColumns = 200;
const fewestColumns = 20;

/** The screen of a chat: at a terminal whose cursor can be moved, everything is one conversation. */
export function createScreen(io: CliIo): Screen {
  const { input, output, env } = io;
  const isInteractive = input.isTTY === true && output.isTTY === true && env["TERM"] !== "dumb";
  const screen = { ...watchScreen(io), isInteractive };
  return isInteractive
    ? { ...screen, aside: screen.answer, style: createStyle(hasColours(true, env)) }
    : screen;
}

/** The screen of a command that is only watched. */
export function watchScreen(io: CliIo): Screen {
  const { output, isErrorTerminal, env } = io;
  const isOutTerminal = output.isTTY === true;
  // Where both are shown in one window they share its lines; else each has its own.
  const isOneWindow = isOutTerminal && isErrorTerminal;
  const cursor = { isAtStart: true };
  return {
    answer: new LineWriter((text) => io.write(text), cursor),
    aside: new LineWriter((text) => io.writeError(text), isOneWindow ? cursor : { isAtStart: true }),
    style: createStyle(hasColours(isErrorTerminal, env)),
    isInteractive: isOneWindow && env["TERM"] !== "dumb",
    columns: () => (isOutTerminal ? Math.max(fewestColumns, (output.columns ?? 80) - 1) : plainColumns),
  };
}

/** What a model or a tool says, as this output may have it: a file gets all, a terminal nothing that drives it. */
export function cleaner(io: CliIo): (text: string) => string {
  return io.output.isTTY === true || io.isErrorTerminal ? withoutControls : (text) => text;
}
