// Looks for tool calls in thinking. A model that forgets to close its thinking writes its calls into it: they count if
// nothing follows them, neither words nor a closing tag. All other calls in thinking are only thoughts.

import type { TextCall } from "./dialects/dialect.ts";
import { isSpace } from "./json-scanner.ts";

/** The part of a text reader that is needed here. */
export interface CallFinder {
  readonly work: number;
  write(text: string): void;
  end(ending: { hasOtherCalls: boolean; isCutOff: boolean }): void;
}

export interface CallFinderSink {
  text(text: string): void;
  thinking(text: string): void;
  call(call: TextCall): void;
  markup(text: string): void;
  warn(message: string): void;
}

export type OpenCallFinder = (sink: CallFinderSink) => CallFinder;

export class ThinkingCalls {
  readonly #finder: CallFinder;
  readonly #emit: (text: string) => void;
  /** The calls since the last words, and the text that they were read from. */
  #calls: TextCall[] = [];
  #text = "";

  constructor(open: OpenCallFinder, emit: (text: string) => void) {
    this.#emit = emit;
    this.#finder = open({
      text: (text) => this.#takeText(text),
      thinking: (text) => this.#takeText(text),
      call: (call) => this.#calls.push(call),
      markup: (text) => {
        this.#text += text;
      },
      warn: () => {},
    });
  }

  /** How many characters were read or copied, for tests. */
  get work(): number {
    return this.#finder.work;
  }

  write(text: string): void {
    this.#finder.write(text);
  }

  /** Ends the thinking. Returns the calls at its end if they count; otherwise they are emitted as thinking. */
  end({ mayCall }: { mayCall: boolean }): readonly TextCall[] {
    this.#finder.end({ hasOtherCalls: false, isCutOff: false });
    if (mayCall && this.#calls.length > 0) return this.#calls;
    this.#flush();
    return [];
  }

  #takeText(text: string): void {
    if (this.#calls.length > 0) {
      this.#text += text;
      if (!isBlank(text)) this.#flush();
    } else this.#emit(text);
  }

  #flush(): void {
    if (this.#text !== "") this.#emit(this.#text);
    this.#text = "";
    this.#calls = [];
  }
}

function isBlank(text: string): boolean {
  for (const char of text) if (!isSpace(char)) return false;
  return true;
}
