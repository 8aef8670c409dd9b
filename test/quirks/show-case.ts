// Shows a case: what the server sends, and what was read of it.

import type { ServerAnswer } from "rondo/testing";
import type { Outcome } from "./outcome.ts";
import type { QuirkCase } from "./quirk-case.ts";

const mostLines = 8;
const mostCharacters = 160;

/** The case as lines: `in` for what came, `read` for what became of it. */
export function showCase(quirk: QuirkCase, outcome: Outcome): string[] {
  const came = quirk.isUnreachable ? ["nothing: no server listens"] : quirk.answers.flatMap(linesOf);
  return [...labelled("in", limited(came)), ...labelled("read", limited(readOf(outcome)))];
}

/** One line for each piece of an answer; pieces of text that follow each other are one. */
function linesOf({ chunks = [], raw = [], ...others }: ServerAnswer): string[] {
  const rest = Object.keys(others).length > 0 ? [JSON.stringify(others, shown)] : [];
  const lines: string[] = [...rest, ...raw.map((piece) => JSON.stringify(shown("", piece)) ?? "")];
  let texts: string[] = [];
  const endText = () => {
    if (texts.length > 0)
      lines.push(
        `${JSON.stringify({ content: texts.join("") })}${texts.length > 1 ? ` in ${texts.length} chunks` : ""}`,
      );
    texts = [];
  };
  for (const chunk of chunks) {
    const text = onlyTextOf(chunk);
    if (text !== undefined) texts.push(text);
    else {
      endText();
      lines.push(chunkLine(chunk));
    }
  }
  endText();
  return lines;
}

interface Chunk {
  choices?: { delta?: unknown; finish_reason?: unknown }[];
  usage?: unknown;
}

function onlyTextOf(value: unknown): string | undefined {
  const { choices, usage } = Object(value) as Chunk;
  const { delta, finish_reason: reason } = choices?.[0] ?? {};
  const { content, ...others } = Object(delta) as { content?: unknown };
  const isOnlyText = choices?.length === 1 && !reason && !usage && Object.keys(others).length === 0;
  return isOnlyText && typeof content === "string" ? content : undefined;
}

/** Of a chunk in its usual shape, only what differs from one to the next. */
function chunkLine(value: unknown): string {
  const { choices, usage } = Object(value) as Chunk;
  const { delta, finish_reason: reason } = choices?.[0] ?? {};
  if (choices?.length !== 1 || delta === undefined) return JSON.stringify(value, shown) ?? "";
  const parts = [JSON.stringify(delta), ...(reason ? [`finish_reason ${JSON.stringify(reason)}`] : [])];
  return [...parts, ...(usage ? [`usage ${JSON.stringify(usage)}`] : [])].join(", ");
}

function readOf({ text, thinking, ran, usage, error }: Outcome): string[] {
  return [
    ...(thinking ? [`thinking ${JSON.stringify(thinking)}`] : []),
    ...(text ? [`text ${JSON.stringify(text)}`] : []),
    ...ran.map(([name, input]) => `call ${name} ${JSON.stringify(input)}`),
    ...(usage ? [`usage ${usage.inputTokens} in, ${usage.outputTokens} out`] : []),
    ...(error ? [`error ${error.code}: ${error.message}`] : []),
  ];
}

function limited(lines: readonly string[]): string[] {
  const shown = lines
    .slice(0, mostLines)
    .map((line) => (line.length > mostCharacters ? `${line.slice(0, mostCharacters - 1)}…` : line));
  return lines.length > mostLines ? [...shown, `… ${lines.length - mostLines} more`] : shown;
}

function labelled(label: string, lines: readonly string[]): string[] {
  const all = lines.length === 0 ? ["nothing"] : lines;
  return all.map((line, index) => `    ${(index === 0 ? label : "").padEnd(5)}${line.replaceAll("\n", " ")}`);
}

/** A promise in a script is a pause. */
function shown(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
  return value instanceof Promise ? "(a pause)" : value;
}
