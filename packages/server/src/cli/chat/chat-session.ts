// Runs the lines of a chat: prompts and commands.

import type { CliIo } from "../cli-io.ts";
import { MarkdownWriter } from "../terminal/markdown.ts";
import { AnswerView } from "./answer-view.ts";
import { isCommand, runCommand } from "./commands.ts";
import { type Completion, completeLine } from "./complete-line.ts";
import type { ChatConversation } from "./conversation.ts";
import type { SavedChats } from "./saved-chats.ts";
import { cleaner, type Screen } from "./screen.ts";

export interface ChatSessionOptions {
  readonly io: CliIo;
  readonly screen: Screen;
  readonly conversation: ChatConversation;
  readonly chats: SavedChats;
}

/** The outcome of a line. */
export type LineOutcome = "done" | "failed" | "exit";

export class ChatSession {
  readonly #options: ChatSessionOptions;
  readonly #clean: (text: string) => string;
  /** Asks the user whether a call of the server may run. Default: it may not. */
  confirm: () => Promise<boolean> = async () => false;

  constructor(options: ChatSessionOptions) {
    this.#options = options;
    this.#clean = cleaner(options.io);
  }

  /** Writes a line beside the answers. */
  note(line: string): void {
    const { aside, style } = this.#options.screen;
    aside.line(this.#clean(line), style.dim);
  }

  /** Shows an error. */
  fail(error: unknown): void {
    const { screen, io } = this.#options;
    const message = error instanceof Error ? error.message : String(error);
    screen.aside.line(this.#clean(message), screen.style.red);
    if (io.env["RONDO_DEBUG"] && error instanceof Error) screen.aside.line(error.stack ?? "");
  }

  /** Completes a line for the Tab key. */
  complete(line: string): Promise<Completion> {
    const { conversation, chats, io } = this.#options;
    return completeLine(line, { conversation, chats, cwd: io.cwd });
  }

  /** Shows where a continued conversation stands: its last prompt, and the answer. */
  showLast(): void {
    const { conversation, screen } = this.#options;
    const { messages } = conversation;
    const start = messages.findLastIndex(({ role }) => role === "user");
    this.note(`This continues a chat of ${messages.length} messages.`);
    for (const { role, content } of messages.slice(Math.max(0, start))) {
      if (typeof content !== "string" || content === "") continue;
      if (role === "user") screen.aside.line(`${screen.style.bold(">")} ${this.#clean(content)}`);
      if (role === "assistant") screen.answer.line(this.#styled(this.#clean(content)));
    }
  }

  /** Runs a line. Never throws: errors are shown, and the chat continues. */
  async submit(line: string, signal: AbortSignal): Promise<LineOutcome> {
    try {
      if (isCommand(line)) return await this.#command(line, signal);
      await this.#ask(line, signal);
      return "done";
    } catch (error) {
      if (signal.aborted) return "done";
      this.fail(error);
      return "failed";
    }
  }

  #styled(text: string): string {
    const { screen } = this.#options;
    if (!screen.style.hasColours) return text;
    const markdown = new MarkdownWriter(screen.style, () => screen.columns());
    return markdown.write(text) + markdown.end();
  }

  async #command(line: string, signal: AbortSignal): Promise<LineOutcome> {
    const { conversation, chats, screen } = this.#options;
    const say = (text: string) => screen.aside.line(this.#clean(text));
    return runCommand(line, { conversation, chats, signal, say });
  }

  async #ask(prompt: string, signal: AbortSignal): Promise<void> {
    const { conversation, screen, io } = this.#options;
    using view = new AnswerView({ screen, clean: this.#clean, draw: (text) => io.write(text) });
    for await (const event of conversation.ask(prompt, signal)) view.show(event);
  }
}
