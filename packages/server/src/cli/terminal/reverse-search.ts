// Ctrl-R: searches the earlier prompts, the newest first, while its text is typed.

export const ctrlR = "\u0012";
const ctrlG = "\u0007";
const segmenter = new Intl.Segmenter();
const backspaces = ["\u007f", "\b"];

/** The input line that a search is drawn on. */
export interface SearchLine {
  /** What is in the line when the search begins. */
  readonly text: string;
  /** Draws the state of the search: what is looked for, and what was found. */
  show(query: string, found: string): void;
  /** Ends the search with this text in the line, for editing. */
  accept(text: string): void;
}

interface SearchState {
  readonly before: string;
  query: string;
  found: string;
  /** Where in the prompts it was found. */
  index: number;
}

export class ReverseSearch {
  readonly #prompts: readonly string[];
  readonly #line: SearchLine;
  #state: SearchState | undefined;

  /** `prompts` are the newest first. */
  constructor(prompts: readonly string[], line: SearchLine) {
    this.#prompts = prompts;
    this.#line = line;
  }

  /** Takes keys. Gives those that are not for the search. */
  take(keys: string): string {
    let rest = "";
    for (const { segment: key, index } of segmenter.segment(keys)) {
      const state = this.#state;
      if (!state && key !== ctrlR) rest += key;
      else if (!state) this.#begin();
      else if (key === ctrlR) this.#find(state, state.index + 1);
      else if (key === ctrlG) this.#end(state.before);
      else if (backspaces.includes(key)) {
        const last = Array.from(segmenter.segment(state.query)).at(-1);
        state.query = state.query.slice(0, last?.index);
        this.#find(state, 0);
      } else if (/\p{Cc}/u.test(key)) {
        // Enter, an arrow, Ctrl-C …: the line is as found, and the key means what it always does.
        this.#end(state.found === "" ? state.before : state.found);
        return rest + keys.slice(index);
      } else {
        state.query += key;
        this.#find(state, state.index);
      }
    }
    return rest;
  }

  #begin(): void {
    this.#state = { before: this.#line.text, query: "", found: "", index: 0 };
    this.#line.show("", "");
  }

  /** The first prompt from a place on that has the text. If there is none, the last one that was found stays. */
  #find(state: SearchState, from: number): void {
    if (state.query === "") state.found = "";
    else {
      const query = state.query.toLowerCase();
      const index = this.#prompts.findIndex(
        (prompt, at) => at >= from && prompt.toLowerCase().includes(query),
      );
      if (index >= 0) Object.assign(state, { index, found: this.#prompts[index] });
    }
    this.#line.show(state.query, state.found);
  }

  #end(text: string): void {
    this.#state = undefined;
    this.#line.accept(text);
  }
}
