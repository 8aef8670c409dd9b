// The inline marks of Markdown: bold, italic, code. A mark that is not closed stays what it is: text.

import type { Style } from "./style.ts";

/** The next mark in a text, or nothing if there is none. */
interface Span {
  /** Where the mark begins, and where the text behind it goes on. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly kind: "bold" | "italic" | "code" | "escaped";
}

/** What begins at a place: a whole span, none, or one that may still be closed by what follows. */
type Found = Span | "none" | "open";

/** Marks that nothing closes from some place on: not looked for again, so that reading a text stays linear. */
type Unclosed = Set<string>;

const opener = /\\|`+|\*{1,2}|_{1,2}/g;

/**
 * Text with its marks as styles. `plain` is the same without any, for measuring. `before` is the character before the
 * text: emphasis does not begin inside a word.
 */
export function renderInline(
  text: string,
  style: Style,
  before = "",
): { readonly styled: string; readonly plain: string } {
  let styled = "";
  let plain = "";
  let at = 0;
  const unclosed: Unclosed = new Set();
  while (at < text.length) {
    const span = nextSpan(text, at, before, true, unclosed);
    const end = typeof span === "object" ? span.start : text.length;
    styled += text.slice(at, end);
    plain += text.slice(at, end);
    if (typeof span !== "object") break;
    const inner =
      span.kind === "code" || span.kind === "escaped"
        ? { styled: span.text, plain: span.text }
        : renderInline(span.text, style);
    styled += paint(span.kind, inner.styled, style);
    plain += inner.plain;
    at = span.end;
  }
  return { styled, plain };
}

/** How much of a line that still grows can be rendered: up to a mark that is not closed yet. */
export function renderableLength(text: string, before: string): number {
  let at = 0;
  while (at < text.length) {
    const span = nextSpan(text, at, before, false);
    if (span === "none") return text.length;
    if (span === "open") return openAt(text, at, before);
    at = span.end;
  }
  return at;
}

/** The first span at or behind a place. In a line that is complete, what is not closed is text. */
function nextSpan(
  text: string,
  from: number,
  before: string,
  isComplete: boolean,
  unclosed: Unclosed = new Set(),
): Found {
  opener.lastIndex = from;
  for (let match = opener.exec(text); match; match = opener.exec(text)) {
    if (unclosed.has(match[0])) continue;
    const found = spanAt(text, match.index, match[0], before, isComplete);
    if (typeof found === "object") return found;
    if (found === "open" && !isComplete) return found;
    if (found === "open") unclosed.add(match[0]);
  }
  return "none";
}

/** Where the open mark behind a place begins. */
function openAt(text: string, from: number, before: string): number {
  opener.lastIndex = from;
  for (let match = opener.exec(text); match; match = opener.exec(text)) {
    const found = spanAt(text, match.index, match[0], before, false);
    if (found === "open") return match.index;
    if (typeof found === "object") opener.lastIndex = found.end;
  }
  return text.length;
}

function spanAt(text: string, start: number, mark: string, before: string, isComplete: boolean): Found {
  const behind = start + mark.length;
  // What follows a mark may change it, so that the last one is not known before.
  const isClosed = (close: number) => close >= 0 && (isComplete || close + mark.length < text.length);
  const next = text[behind];
  if (mark === "\\") {
    if (next === undefined) return "open";
    return /[!-/:-@[-`{-~]/.test(next) ? { start, end: behind + 1, text: next, kind: "escaped" } : "none";
  }
  if (mark.startsWith("`")) {
    const close = closingTicks(text, behind, mark.length);
    if (!isClosed(close)) return "open";
    return { start, end: close + mark.length, text: text.slice(behind, close), kind: "code" };
  }
  if (next === undefined) return "open";
  const isInWord = /[\p{L}\p{N}]/u.test(text[start - 1] ?? before);
  // `2 * 3` and `snake_case` have no emphasis.
  if (/\s/.test(next) || (isInWord && mark !== "**")) return "none";
  const close = closingMark(text, behind, mark);
  if (!isClosed(close)) return "open";
  const kind = mark.length === 2 ? "bold" : "italic";
  return { start, end: close + mark.length, text: text.slice(behind, close), kind };
}

function closingTicks(text: string, from: number, count: number): number {
  const runs = /`+/g;
  runs.lastIndex = from;
  for (let run = runs.exec(text); run; run = runs.exec(text)) if (run[0].length === count) return run.index;
  return -1;
}

/** Where emphasis ends: behind text, before no further mark of its kind, and for `_` not inside a word. */
function closingMark(text: string, from: number, mark: string): number {
  const sign = mark[0] as string;
  for (let at = text.indexOf(mark, from + 1); at > 0; at = text.indexOf(mark, at + 1)) {
    const next = text[at + mark.length];
    if (/\s/.test(text[at - 1] ?? "") || text[at - 1] === "\\") continue;
    if (mark.length === 1 && (next === sign || text[at - 1] === sign)) continue;
    if (sign === "_" && /[\p{L}\p{N}]/u.test(next ?? "")) continue;
    return at;
  }
  return -1;
}

function paint(kind: Span["kind"], text: string, style: Style): string {
  if (kind === "bold") return style.bold(text);
  if (kind === "italic") return style.italic(text);
  return kind === "code" ? style.cyan(text) : text;
}
