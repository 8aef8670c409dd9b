// Where a command writes: answers to standard output, everything else to standard error. A chat at a terminal writes
// both to standard output.

import type { CliIo } from "../cli-io.ts";
import { LineWriter } from "../terminal/lines.ts";
import { createStyle, hasColours, type Style } from "../terminal/style.ts";
import { withoutControls } from "../terminal/text.ts";

export interface Screen {
  /** For the answer. */
  readonly answer: LineWriter;
  /** For everything else. */
  readonly aside: LineWriter;
  readonly style: Style;
  /** Whether a spinner can be shown; in a chat, also whether a user types here. */
  readonly isInteractive: boolean;
  /** The width of lines that are not the answer. */
  columns(): number;
}

/** The width where there is no terminal. */
const plainColumns = 200;
const fewestColumns = 20;

/** The screen of a chat. */
export function createScreen(io: CliIo): Screen {
  const { input, output, env } = io;
  const isInteractive = input.isTTY === true && output.isTTY === true && env["TERM"] !== "dumb";
  const screen = { ...watchScreen(io), isInteractive };
  return isInteractive
    ? { ...screen, aside: screen.answer, style: createStyle(hasColours(true, env)) }
    : screen;
}

/** The screen of a command that takes no prompts. */
export function watchScreen(io: CliIo): Screen {
  const { output, isErrorTerminal, env } = io;
  const isOutTerminal = output.isTTY === true;
  // In one window both share its lines; otherwise each has its own.
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

/** Removes control characters from what models and tools write, if it goes to a terminal. Files get everything. */
export function cleaner(io: CliIo): (text: string) => string {
  return io.output.isTTY === true || io.isErrorTerminal ? withoutControls : (text) => text;
}
