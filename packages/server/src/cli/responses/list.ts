// `rondo responses list`: the newest responses of a server.

import type { ResponseObject } from "../../protocol/response.ts";
import type { ApiClient } from "../api-client.ts";
import type { CliIo } from "../cli-io.ts";
import { createStyle, hasColours, type Style } from "../terminal/style.ts";
import { oneLine, withoutControls } from "../terminal/text.ts";
import { tabbedLine, tableLines } from "./table.ts";
import { textOf, timeOf } from "./words.ts";

export interface ListWishes {
  readonly limit: number;
  readonly status?: string;
  readonly model?: string;
  readonly json?: true;
}

const largestPage = 100;
/** Enough to tell responses apart, and short enough for a line; commands take it as an id. */
const shownIdLength = "resp_".length + 12;
const plainTextLength = 200;

export async function listResponses(
  io: CliIo,
  api: ApiClient,
  wishes: ListWishes,
  signal: AbortSignal,
): Promise<void> {
  const responses = await newest(api, wishes, signal);
  if (wishes.json) {
    for (const response of responses) io.write(`${JSON.stringify(response)}\n`);
    return;
  }
  if (responses.length === 0) {
    const which = wishes.status === undefined && wishes.model === undefined ? "" : " of that kind";
    io.writeError(`There are no responses${which} at ${api.label}.\n`);
    return;
  }
  const lines = io.output.isTTY === true ? table(io, responses) : responses.map(plainLine);
  io.write(lines.map((line) => `${line}\n`).join(""));
}

async function newest(
  api: ApiClient,
  { limit, status, model }: ListWishes,
  signal: AbortSignal,
): Promise<ResponseObject[]> {
  const all: ResponseObject[] = [];
  while (all.length < limit) {
    const after = all.at(-1)?.id;
    const { data, has_more } = await api.list(
      {
        limit: String(Math.min(limit - all.length, largestPage)),
        ...(status !== undefined && { status }),
        ...(model !== undefined && { model }),
        ...(after !== undefined && { after }),
      },
      signal,
    );
    all.push(...data);
    if (!has_more || data.length === 0) break;
  }
  return all;
}

function table(io: CliIo, responses: readonly ResponseObject[]): string[] {
  const style = createStyle(hasColours(true, io.env));
  const columns = [
    { title: "ID" },
    { title: "STATUS", paint: (text: string) => paintStatus(style, text) },
    { title: "MODEL" },
    { title: "CREATED", paint: style.dim },
    { title: "TEXT" },
  ];
  const rows = responses.map((response) => [
    response.id.slice(0, shownIdLength),
    response.status,
    withoutControls(response.model),
    timeOf(response.created_at, true),
    textOf(response),
  ]);
  return tableLines(columns, rows, (io.output.columns ?? 80) - 1, style.bold);
}

function plainLine(response: ResponseObject): string {
  const { id, status, model, created_at } = response;
  return tabbedLine([
    id,
    status,
    model,
    timeOf(created_at, false),
    oneLine(textOf(response), plainTextLength),
  ]);
}

/** `text` may have spaces behind it. */
export function paintStatus(style: Style, text: string): string {
  const status = text.trimEnd();
  if (status === "completed") return style.green(text);
  return status === "failed" ? style.red(text) : style.yellow(text);
}
