// The interface between the text reader and the dialects of tool calls.

import type { Cursor, Reading } from "../cursor.ts";

/** How many calls one answer may have in its text. */
export const maxCalls = 1_000;

/** A tool call found in text. */
export interface TextCall {
  /** The name of an offered tool. */
  readonly name: string;
  /** JSON text, as far as the model wrote it. */
  readonly arguments: string;
  /** Whether the text ended before the call did. */
  readonly isCut: boolean;
}

/** A call whose arguments are in doubt. They are not JSON, so it does not run, and the model is told why. */
export function doubtfulCall(name: string, reason: string): TextCall {
  return { name, arguments: `(${reason})`, isCut: false };
}

/** The offered tools: markup that names none of them is not a call. */
export interface DialectTools {
  /** The offered name that this one stands for. */
  match(name: string): string | undefined;
  /** Whether an offered name begins with this text, in any case. */
  mayBegin(text: string): boolean;
}

export interface Dialect {
  /** The texts that begin its markup. The empty one stands for any beginning of an answer. */
  readonly openers: readonly string[];
  /** Whether the markup must begin the answer, because its opener is too common. Default: false. */
  readonly isWholeAnswer?: boolean;
  /**
   * Reads the markup; the cursor is after the opener. Returns the calls, with the cursor after the markup; or
   * undefined, as early as possible, if it is ordinary text.
   */
  read(cursor: Cursor, tools: DialectTools, opener: string): Reading<readonly TextCall[] | undefined>;
}
