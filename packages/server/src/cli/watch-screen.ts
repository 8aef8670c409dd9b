// Where commands write that are only watched: the answer to standard output, all else to standard error.

import type { Screen } from "./chat/screen.ts";
import type { CliIo } from "./cli-io.ts";
import { LineWriter } from "./terminal/lines.ts";
import { createStyle, hasColours } from "./terminal/style.ts";

/** How much of a call or a result is shown where lines have no width. */
const plainColumns = 200;
const fewestColumns = 20;

export function watchScreen(io: CliIo): Screen {
  const { output, isErrorTerminal, env } = io;
  const isOutTerminal = output.isTTY === true;
  const cursor = { isAtStart: true };
  return {
    answer: new LineWriter((text) => io.write(text), cursor),
    // Where both are shown in one window they share its lines; else each has its own.
    aside: new LineWriter(
      (text) => io.writeError(text),
      isOutTerminal && isErrorTerminal ? cursor : { isAtStart: true },
    ),
    style: createStyle(hasColours(isErrorTerminal, env)),
    isInteractive: isOutTerminal && isErrorTerminal && env["TERM"] !== "dumb",
    columns: () => (isOutTerminal ? Math.max(fewestColumns, (output.columns ?? 80) - 1) : plainColumns),
  };
}
