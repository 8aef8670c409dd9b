// Shows an answer as it comes: text, thoughts, calls and their results, and at the end what it took.

import { MarkdownWriter } from "../terminal/markdown.ts";
import { startSpinner } from "../terminal/spinner.ts";
import { oneLine } from "../terminal/text.ts";
import type { ChatEvent, ChatUsage, EndReason } from "./chat-events.ts";
import type { Screen } from "./screen.ts";

export interface AnswerViewOptions {
  readonly screen: Screen;
  /** Removes from a text what the output must not contain. */
  readonly clean: (text: string) => string;
  /** Draws on the terminal outside of its lines: the spinner. */
  readonly draw: (text: string) => void;
  readonly now?: () => number;
}

export class AnswerView implements Disposable {
  readonly #options: AnswerViewOptions;
  readonly #clock: AnswerClock;
  /** Styles the text, where there are styles; elsewhere Markdown reads best as it is. */
  readonly #markdown: MarkdownWriter | undefined;
  #kind: "text" | "thinking" | undefined;
  #stopSpinner: (() => void) | undefined;

  /** Starts the spinner. */
  constructor(options: AnswerViewOptions) {
    this.#options = options;
    this.#clock = new AnswerClock(options.now);
    const { screen } = options;
    if (screen.isInteractive && screen.style.hasColours)
      this.#markdown = new MarkdownWriter(screen.style, () => screen.columns());
    this.#wait("waiting");
  }

  show(event: ChatEvent): void {
    this.#clock.note(event);
    switch (event.type) {
      case "text":
      case "thinking":
        this.#say(event.type, event.text);
        return;
      case "call.delta":
        if (!this.#stopSpinner) {
          this.#endLine();
          this.#wait("writing a call");
        }
        return;
      case "call":
        this.#line(this.#described("→", event.name, event.input), (text) => this.#style.cyan(text));
        this.#wait("running");
        return;
      case "result": {
        const paint = event.isError ? this.#style.red : this.#style.dim;
        const sign = event.isError ? "✗" : "←";
        this.#line(this.#described(sign, event.name, textOfMcpResult(event.output) ?? event.output), (text) =>
          paint(text),
        );
        this.#wait("waiting");
        return;
      }
      case "notice":
        this.#line(event.text, (text) => this.#style.dim(text));
        return;
      case "end":
        this.#line(this.#summary(event.reason, event.usage), (text) => this.#style.dim(text));
    }
  }

  /** Ends the open line and the spinner. */
  [Symbol.dispose](): void {
    this.#stopWaiting();
    this.#endLine();
  }

  get #style() {
    return this.#options.screen.style;
  }

  #say(kind: "text" | "thinking", said: string): void {
    const { screen, clean } = this.#options;
    const isNew = this.#kind !== kind;
    // Models like to begin with empty lines.
    const text = isNew ? clean(said).trimStart() : clean(said);
    if (text === "") return;
    this.#stopWaiting();
    if (isNew) this.#endLine();
    this.#kind = kind;
    if (kind === "text") {
      screen.answer.write(this.#markdown?.write(text) ?? text);
      return;
    }
    // Without colours, a word marks it.
    if (isNew && !screen.style.hasColours) screen.aside.write("thinking: ");
    screen.aside.write(text, screen.style.dim);
  }

  #line(text: string, paint: (text: string) => string): void {
    this.#stopWaiting();
    this.#endLine();
    this.#options.screen.aside.line(text, paint);
  }

  /** Ends the text or thought that is open. */
  #endLine(): void {
    const { answer, aside } = this.#options.screen;
    if (this.#kind === "text") {
      answer.write(this.#markdown?.end() ?? "");
      answer.endLine();
    }
    if (this.#kind === "thinking") aside.endLine();
    this.#kind = undefined;
  }

  #described(sign: string, name: string, value: unknown): string {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
    return oneLine(`${sign} ${name} ${text}`, this.#options.screen.columns());
  }

  #summary(reason: EndReason, usage: ChatUsage | undefined): string {
    const parts: string[] = [];
    const why = whyItEnded[reason];
    if (why !== undefined) parts.push(why);
    const about = usage?.estimated ? "about " : "";
    if (usage) parts.push(`${about}${count(usage.inputTokens)} tokens in, ${count(usage.outputTokens)} out`);
    parts.push(`${(this.#clock.elapsedMs / 1000).toFixed(1)} s`);
    const rate = usage && this.#clock.rate(usage.outputTokens);
    if (rate !== undefined) parts.push(`${rate.toFixed(rate < 10 ? 1 : 0)} tokens/s`);
    return parts.join(" · ");
  }

  #wait(text: string): void {
    const { screen, draw } = this.#options;
    if (!screen.isInteractive) return;
    this.#stopWaiting();
    this.#stopSpinner = startSpinner({ write: draw, text, paint: screen.style.dim });
  }

  #stopWaiting(): void {
    this.#stopSpinner?.();
    this.#stopSpinner = undefined;
  }
}

/** The text of an MCP result; undefined if it has other content. */
function textOfMcpResult(value: unknown): string | undefined {
  const { content } = (value ?? {}) as { content?: unknown };
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const texts = content.map((part) => (part?.type === "text" ? part.text : undefined));
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : undefined;
}

const whyItEnded: Readonly<Record<EndReason, string | undefined>> = {
  completed: undefined,
  interrupted: "interrupted",
  length: "cut off: the answer or the conversation is too long",
  limit: "stopped: tools were run too often",
  filtered: "stopped by the model's content filter",
};

function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** Below this a rate is noise. */
const minRateMs = 100;

class AnswerClock {
  readonly #now: () => number;
  readonly #startedAt: number;
  #pieceAt: number | undefined;
  #writingMs = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** Counts the time between the model's pieces: not the tools', and not the wait for the first piece. */
  note({ type }: ChatEvent): void {
    const now = this.#now();
    if (type === "text" || type === "thinking" || type === "call.delta" || type === "call") {
      if (this.#pieceAt !== undefined) this.#writingMs += now - this.#pieceAt;
      this.#pieceAt = now;
    } else if (type === "result") this.#pieceAt = undefined;
  }

  get elapsedMs(): number {
    return this.#now() - this.#startedAt;
  }

  /** Tokens a second; undefined if unknown. */
  rate(outputTokens: number): number | undefined {
    return this.#writingMs < minRateMs || outputTokens === 0
      ? undefined
      : outputTokens / (this.#writingMs / 1000);
  }
}
