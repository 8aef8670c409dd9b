// What a dialect of tool calls in text is, for the text reader.

import type { Cursor, Reading } from "../cursor.ts";

/** How many calls one answer may have in its text, and so one piece of markup. */
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

/** The tools that were offered: what names none of them is no call. */
export interface OfferedTools {
  /** The offered name that this one stands for. */
  match(name: string): string | undefined;
}

export interface Dialect {
  /** What begins its markup. */
  readonly openers: readonly string[];
  /** Whether the markup must be the whole answer, because what opens it is too common otherwise. */
  readonly isWholeAnswer?: boolean;
  /**
   * Reads the markup; the cursor stands after the opener. Gives the calls, and leaves the cursor after the markup;
   * or undefined when it is ordinary text after all, and then as early as that can be known.
   */
  read(cursor: Cursor, tools: OfferedTools, opener: string): Reading<readonly TextCall[] | undefined>;
}
