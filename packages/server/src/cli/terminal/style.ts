// Colours, where the terminal and the user want them.

import { styleText } from "node:util";
import type { Environment } from "../../config/overrides.ts";

type Paint = (text: string) => string;

/** Styles by kind. Without colours each returns the text unchanged. */
export interface Style {
  readonly hasColours: boolean;
  /** For everything but the answer. */
  readonly dim: Paint;
  readonly bold: Paint;
  readonly italic: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

/** Whether a stream gets colours: only a capable terminal, and not with NO_COLOR. */
export function hasColours(isTerminal: boolean, env: Environment): boolean {
  return isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

export function createStyle(isColoured: boolean): Style {
  const paint =
    (format: Parameters<typeof styleText>[0]): Paint =>
    (text) =>
      isColoured && text !== "" ? styleText(format, text, { validateStream: false }) : text;
  return {
    hasColours: isColoured,
    dim: paint("dim"),
    bold: paint("bold"),
    italic: paint("italic"),
    red: paint("red"),
    green: paint("green"),
    yellow: paint("yellow"),
    cyan: paint("cyan"),
  };
}
