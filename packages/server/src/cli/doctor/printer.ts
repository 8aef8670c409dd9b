// Tells what was found as soon as it was found: with colours and a moving line on a terminal, else as plain lines.

import type { CliIo } from "../cli-io.ts";
import { startSpinner } from "../terminal/spinner.ts";
import { createStyle, hasColours, type Style } from "../terminal/style.ts";
import { oneLine, withoutControls } from "../terminal/text.ts";
import type { Finding, InstallCheck, ModelReport, ServerReport, Status, StepReport } from "./report.ts";

export interface Printer {
  /** Begins a part; the same title again goes on with it. */
  title(text: string): void;
  install(check: InstallCheck): void;
  server(report: ServerReport): void;
  model(model: string, profile: ModelReport["profile"]): void;
  step(report: StepReport): void;
  note(text: string): void;
  result(finding: Finding): void;
  /** What is going on until the next line; `limitMs` is how long it may take. */
  progress(text: string, limitMs?: number): void;
  /** Takes the moving line away. */
  clear(): void;
}

/** For `--json`: whatever is told is in the document at the end. */
export const silentPrinter: Printer = {
  title() {},
  install() {},
  server() {},
  model() {},
  step() {},
  note() {},
  result() {},
  progress() {},
  clear() {},
};

const marks: Record<Status, string> = { ok: "✓", warning: "!", failed: "✗", skipped: "-" };
export const serverTitles = { model: "Model servers", rondo: "Rondo server" } as const;
const stepTitles = { answer: "answer", stream: "streaming", tool: "tool call" } as const;

export class LinePrinter implements Printer {
  readonly #io: CliIo;
  readonly #style: Style;
  #title = "";
  #endProgress = () => {};

  constructor(io: CliIo) {
    this.#io = io;
    this.#style = createStyle(hasColours(io.output.isTTY === true, io.env));
  }

  title(text: string): void {
    if (text === this.#title) return;
    this.#line(`${this.#title === "" ? "" : "\n"}${this.#style.bold(text)}`);
    this.#title = text;
  }

  install(check: InstallCheck): void {
    this.#finding(check, check.message, 1);
  }

  server(report: ServerReport): void {
    this.title(serverTitles[report.type]);
    this.#finding(report, `${report.url} (${report.source}): ${report.message}`, 1);
  }

  model(model: string, profile: ModelReport["profile"]): void {
    this.#line(`    ${this.#style.bold(withoutControls(model))}`);
    if (profile !== undefined)
      this.#line(this.#style.dim(withoutControls(`      profile ${profile.name}: ${profile.reason}`)));
  }

  step(report: StepReport): void {
    const seconds = (report.ms / 1000).toFixed(1);
    this.#finding(report, `${stepTitles[report.step]}: ${report.message} (${seconds} s)`, 3);
  }

  note(text: string): void {
    this.#line(`  ${this.#style.dim(withoutControls(text))}`);
  }

  result(finding: Finding): void {
    this.#line("");
    this.#finding(finding, finding.message, 0);
  }

  progress(text: string, limitMs?: number): void {
    this.clear();
    if (this.#io.output.isTTY !== true) return;
    const limit = limitMs === undefined ? "" : `, up to ${limitMs / 1000} s`;
    this.#endProgress = startSpinner({
      write: (it) => this.#io.write(it),
      // A line that wraps could not be taken away.
      text: oneLine(`${text}${limit}`, (this.#io.output.columns ?? 80) - 3),
      paint: this.#style.dim,
    });
  }

  clear(): void {
    this.#endProgress();
    this.#endProgress = () => {};
  }

  #finding({ status, advice }: Finding, text: string, depth: number): void {
    const indent = "  ".repeat(depth);
    this.#line(`${indent}${this.#mark(status)} ${aligned(text, `${indent}  `)}`);
    if (advice !== undefined) this.#line(`${indent}  → ${aligned(advice, `${indent}    `)}`);
  }

  #mark(status: Status): string {
    const { green, yellow, red, dim } = this.#style;
    const paint = { ok: green, warning: yellow, failed: red, skipped: dim }[status];
    return paint(marks[status]);
  }

  #line(text: string): void {
    this.clear();
    this.#io.write(`${text}\n`);
  }
}

/** What has several lines stays under its mark; what comes from servers shall not drive the terminal. */
function aligned(text: string, indent: string): string {
  return withoutControls(text).trimEnd().replaceAll("\n", `\n${indent}`);
}
