// `rondo responses list`: the newest responses of a server.

import type { ResponseObject } from "../../protocol/response.ts";
import type { ApiClient } from "../api-client.ts";
import type { CliIo } from "../cli-io.ts";
import { createStyle, hasColours, type Style } from "../terminal/style.ts";
import { oneLine, widthOf, withoutControls } from "../terminal/text.ts";
import { textOf, timeOf } from "./words.ts";

export interface ListFlags {
  readonly limit: number;
  readonly status?: string;
  readonly model?: string;
  readonly json?: true;
}

/** Enough to tell responses apart; commands accept it as an id. */
const shownIdLength = "resp_".length + 12;
const plainTextLength = 200;
const titles = ["ID", "STATUS", "MODEL", "CREATED", "TEXT"];
const gap = "  ";
/** The least width of the text; narrower terminals wrap. */
const leastTextWidth = 10;

export async function listResponses(
  io: CliIo,
  api: ApiClient,
  flags: ListFlags,
  signal: AbortSignal,
): Promise<void> {
  const { limit, status, model } = flags;
  const filter = { ...(status !== undefined && { status }), ...(model !== undefined && { model }) };
  const responses = await api.list(limit, filter, signal);
  if (flags.json) {
    for (const response of responses) io.write(`${JSON.stringify(response)}\n`);
    return;
  }
  if (responses.length === 0) {
    const which = status === undefined && model === undefined ? "" : " of that kind";
    io.writeError(`There are no responses${which} at ${api.label}.\n`);
    return;
  }
  const lines = io.output.isTTY === true ? table(io, responses) : responses.map(plainLine);
  io.write(lines.map((line) => `${line}\n`).join(""));
}

/** Lines in columns that line up, the titles first. The last column is cut to what is left of the width. */
function table(io: CliIo, responses: readonly ResponseObject[]): string[] {
  const style = createStyle(hasColours(true, io.env));
  const rows = responses.map((response) => [
    response.id.slice(0, shownIdLength),
    response.status,
    withoutControls(response.model),
    timeOf(response.created_at, true),
    textOf(response),
  ]);
  const widths = titles.map((_, index) =>
    Math.max(...[titles, ...rows].map((row) => widthOf(row[index] ?? ""))),
  );
  const taken = widths.slice(0, -1).reduce((sum, it) => sum + it + gap.length, 0);
  const textWidth = Math.max(leastTextWidth, (io.output.columns ?? 80) - 1 - taken);
  const cells = (row: readonly string[]) =>
    row.map((text, index) =>
      index === row.length - 1
        ? oneLine(text, textWidth)
        : text + " ".repeat((widths[index] ?? 0) - widthOf(text)),
    );
  return [
    style.bold(cells(titles).join(gap)),
    ...rows.map((row) => {
      const [id, status = "", model, created = "", text] = cells(row);
      return [id, paintStatus(style, status), model, style.dim(created), text].join(gap).trimEnd();
    }),
  ];
}

/** One line for programs: cells contain no tabs or line breaks. */
function plainLine(response: ResponseObject): string {
  const { id, status, model, created_at } = response;
  const text = oneLine(textOf(response), plainTextLength);
  const cells = [id, status, model, timeOf(created_at, false), text];
  return cells.map((cell) => cell.replace(/\s+/g, " ").trim()).join("\t");
}

/** `text` may be padded. */
export function paintStatus(style: Style, text: string): string {
  const status = text.trimEnd();
  if (status === "completed") return style.green(text);
  return status === "failed" ? style.red(text) : style.yellow(text);
}
