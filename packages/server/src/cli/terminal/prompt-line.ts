// Reads prompts from a terminal: editing, history, several lines as one prompt.

import { createInterface, type Interface } from "node:readline";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { OutputStream } from "../cli-io.ts";
import type { KeyGate } from "./key-gate.ts";
import type { PromptHistory } from "./prompt-history.ts";
import { ctrlR, ReverseSearch } from "./reverse-search.ts";
import { lineBreakSign } from "./text.ts";

/** Where keys are split, so that each search begins a part. */
const searchKey = new RegExp(`(?=${ctrlR})`);

export interface PromptLineOptions {
  readonly gate: KeyGate;
  readonly output: OutputStream;
  readonly history: PromptHistory;
  /** The prefix of the first line, and of continuation lines. Default: `> ` and `… `. */
  readonly prompt?: string;
  readonly morePrompt?: string;
  /** Completes a line for the Tab key: the completions, and which end of the line they replace. Default: none. */
  readonly complete?: (line: string) => Promise<[string[], string]>;
  /** Suspends the process for Ctrl-Z. Default: Ctrl-Z does nothing. */
  readonly suspend?: (onBack: () => void) => void;
}

type CompletionDone = (error: null, result: [string[], string]) => void;

/** A prompt, `end` for Ctrl-D, or `interrupt` for Ctrl-C in an empty line. */
export type Typed = { readonly prompt: string } | "end" | "interrupt";

/** Reads one prompt. A backslash at the end of a line continues on the next. */
export async function readPrompt(options: PromptLineOptions): Promise<Typed> {
  const { history, prompt = "> ", morePrompt = "… " } = options;
  let begun: string[] = [];
  while (true) {
    const typed = await readLine(options, begun.length === 0 ? prompt : morePrompt);
    if (typed === "end") return typed;
    if (typed === "interrupt" && begun.length === 0) return typed;
    if (typed === "interrupt" || typed === "discard") {
      begun = [];
      continue;
    }
    const line = typed.prompt.replaceAll(lineBreakSign, "\n");
    if (line.endsWith("\\")) {
      begun.push(line.slice(0, -1));
      continue;
    }
    const whole = [...begun, line].join("\n");
    begun = [];
    if (whole.trim() === "") continue;
    history.add(whole);
    return { prompt: whole };
  }
}

/** Reads one line. Ctrl-C discards a line with text. */
export function readLine(
  { gate, output, history, complete, suspend }: PromptLineOptions,
  prompt: string,
): Promise<Typed | "discard"> {
  const { promise, resolve } = Promise.withResolvers<Typed | "discard">();
  const prompts = history.newestFirst.map((earlier) => earlier.replaceAll("\n", lineBreakSign));
  const input = new PassThrough();
  const answer = async (line: string, done: CompletionDone) => {
    done(null, complete ? await complete(line) : [[], line]);
  };
  const lines = createInterface({
    input,
    output,
    terminal: true,
    prompt,
    history: [...prompts],
    historySize: 1000,
    completer: (line: string, done: CompletionDone) => void answer(line, done),
    // For the Escape key alone.
    escapeCodeTimeout: 50,
  });
  const search = searchIn(lines, prompts, prompt);
  const keys = gate.open().setEncoding("utf8");
  let passing = Promise.resolve();
  const pass = async (text: string) => {
    for (const part of text.split(searchKey)) {
      // The line has read the keys before: a search begins with what is in it.
      if (part.startsWith(ctrlR)) await setImmediate();
      input.write(search.take(part));
    }
  };
  keys.on("data", (text: string) => {
    passing = passing.then(() => pass(text));
  });
  keys.on("end", () => void passing.then(() => input.end()));
  const done = (typed: Typed | "discard") => {
    resolve(typed);
    gate.close();
    lines.close();
  };
  lines.on("line", (line) => done({ prompt: line }));
  lines.on("close", () => done("end"));
  lines.on("SIGINT", () => {
    output.write("^C\n");
    done(lines.line === "" ? "interrupt" : "discard");
  });
  lines.on("SIGTSTP", () => {
    if (!suspend || process.platform === "win32") return; // Windows has no such thing
    gate.giveBack();
    suspend(() => {
      gate.take();
      lines.prompt(true);
    });
  });
  lines.prompt();
  return promise;
}

/** A search in the earlier prompts that is drawn on the input line. */
function searchIn(lines: Interface, prompts: readonly string[], prompt: string): ReverseSearch {
  const draw = (start: string, text: string) => {
    lines.setPrompt(start);
    // Empties the line, which draws the prompt anew.
    lines.write(null, { ctrl: true, name: "e" });
    lines.write(null, { ctrl: true, name: "u" });
    if (lines.line === "" && text !== "") lines.write(text);
  };
  return new ReverseSearch(prompts, {
    get text() {
      return lines.line;
    },
    show: (query, found) => draw(`(search: ${query}) `, found),
    accept: (text) => draw(prompt, text),
  });
}
