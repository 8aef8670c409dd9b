// Thinking that is open: it is read up to its closing tag, or up to the end of the answer.

import type { TextCall } from "./dialects/dialect.ts";
import type { ThinkTags } from "./think-tags.ts";
import { type OpenCallFinder, ThinkingCalls } from "./thinking-calls.ts";
import { ThinkingReader } from "./thinking-reader.ts";

export interface OpenThinkingOptions {
  /** The tags that may close it, and open it again if none did. */
  readonly tags: ThinkTags;
  /** Whether a tag opened it, rather than the profile. */
  readonly isOpen: boolean;
  /** Whether the answer has text or calls already. */
  readonly hasAnswer: boolean;
  readonly emit: (text: string) => void;
  /** Looks for calls in it. Undefined if no tools were offered. */
  readonly openCallFinder: OpenCallFinder | undefined;
}

/** How an answer ended inside thinking. */
export interface ThinkingEnd {
  /** The calls at its end. */
  readonly calls: readonly TextCall[];
  /** All of it, if the answer has nothing else. */
  readonly lostText: string;
  readonly warning: string | undefined;
}

export class OpenThinking {
  readonly #options: OpenThinkingOptions;
  readonly #reader: ThinkingReader;
  readonly #calls: ThinkingCalls | undefined;
  #text = "";

  constructor(options: OpenThinkingOptions) {
    const { tags, isOpen, hasAnswer, emit, openCallFinder } = options;
    const take = (text: string) => {
      if (!hasAnswer) this.#text += text;
      emit(text);
    };
    const calls = openCallFinder && new ThinkingCalls(openCallFinder, take);
    this.#options = options;
    this.#calls = calls;
    this.#reader = new ThinkingReader(
      tags,
      { thinking: calls ? (text) => calls.write(text) : take },
      { isOpen },
    );
  }

  /** Whether nothing has come yet. */
  get isUntouched(): boolean {
    return this.#reader.isUntouched;
  }

  /** How many characters the search for calls has read or copied, for tests. */
  get work(): number {
    return this.#calls?.work ?? 0;
  }

  /** Returns the rest after the closing tag; undefined until it comes. */
  write(text: string): string | undefined {
    const rest = this.#reader.write(text);
    if (rest !== undefined) this.#calls?.end({ mayCall: false });
    return rest;
  }

  /**
   * The answer ended. Calls at the end of the thinking count; without any, all of it is the text if there is no other:
   * an answer is never lost. Neither holds for an answer that was cut off (`mayAnswer` is false).
   */
  end({ mayAnswer }: { mayAnswer: boolean }): ThinkingEnd {
    this.#reader.end();
    const calls = this.#calls?.end({ mayCall: mayAnswer }) ?? [];
    const lostText = mayAnswer && calls.length === 0 ? this.#text : "";
    return { calls, lostText, warning: this.#warningAbout(lostText !== "") };
  }

  #warningAbout(isLost: boolean): string | undefined {
    const isImplicit = !this.#options.isOpen && !this.isUntouched;
    if (!isImplicit && !isLost) return undefined;
    const sentences = ["The answer ended inside thinking: no closing tag came."];
    if (isLost) sentences.push("It is also given as text.");
    if (isImplicit)
      sentences.push("If this model does not think, set the profile's startsThinking to false.");
    return sentences.join(" ");
  }
}
