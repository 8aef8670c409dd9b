// Reads prompts from a terminal: editing, history, several lines as one prompt.

import { createInterface } from "node:readline";
import type { OutputStream } from "../cli-io.ts";
import type { KeyGate } from "./key-gate.ts";
import type { PromptHistory } from "./prompt-history.ts";
import { lineBreakSign } from "./text.ts";

export interface PromptLineOptions {
  readonly gate: KeyGate;
  readonly output: OutputStream;
  readonly history: PromptHistory;
  /** The prefix of the first line, and of continuation lines. Default: `> ` and `… `. */
  readonly prompt?: string;
  readonly morePrompt?: string;
  /** Suspends the process for Ctrl-Z. Default: Ctrl-Z does nothing. */
  readonly suspend?: (onBack: () => void) => void;
}

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
  { gate, output, history, suspend }: PromptLineOptions,
  prompt: string,
): Promise<Typed | "discard"> {
  const { promise, resolve } = Promise.withResolvers<Typed | "discard">();
  const lines = createInterface({
    input: gate.open(),
    output,
    terminal: true,
    prompt,
    history: history.newestFirst.map((prompt) => prompt.replaceAll("\n", lineBreakSign)),
    historySize: 1000,
    // For the Escape key alone.
    escapeCodeTimeout: 50,
  });
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
