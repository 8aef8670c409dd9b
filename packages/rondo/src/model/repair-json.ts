// Repairs text that is nearly JSON, in one pass. It adds what is missing and never drops or changes a character of a
// value: ambiguous text is rejected. It accepts
//
// - strings in single or typographic quotes, and keys without quotes
// - a trailing comma, and a missing one where a quoted key or a bracket shows that something new begins
// - True, False and None
// - line breaks, tabs and other control characters inside strings
// - escapes that JSON does not know: the backslash stays, as in `\d+`
//
// Everything else is rejected: values without quotes, comments, ellipses, numbers in another notation, function calls,
// strings that are joined by `+`, a key twice, and a text that ends too early.

import { maxJsonDepth } from "../json/json-flaw.ts";

/** Why a text was rejected, as the end of "received …". */
export class JsonRepairError extends Error {}

/** The text as valid JSON. Throws a `JsonRepairError` where its meaning is in doubt. */
export function repairJson(text: string): string {
  return new JsonRepairer(text).run();
}

const closings: Readonly<Record<string, string>> = { '"': '"', "'": "'", "“": "”", "‘": "’" };
const space = /[\s\uFEFF]*/y;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const words = ["true", "false", "null"];
const pythonWords = ["True", "False", "None"];

type Kind = "string" | "number" | "word" | "bracket";

/** An object or a list that is open. */
interface Level {
  readonly close: "}" | "]";
  /** The keys so far; a list has none. */
  readonly keys: Set<string> | undefined;
  /** What the last value was; undefined at the start and after a comma. */
  last: Kind | undefined;
}

class JsonRepairer {
  readonly #text: string;
  /** Made here: classes of Unicode take a third of a millisecond, and most programs repair nothing. */
  readonly #word = /[\p{L}_$][\p{L}\p{N}_$-]*/uy;
  /** Anything in a string that cannot be copied as it is: a quote, a backslash, a control character. */
  readonly #special = /["'”’\\]|\p{Cc}/gu;
  readonly #levels: Level[] = [];
  #at = 0;
  #json = "";

  constructor(text: string) {
    this.#text = text;
  }

  run(): string {
    this.#skipSpace();
    this.#value();
    for (let level = this.#levels.at(-1); level; level = this.#levels.at(-1)) this.#step(level);
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#refuse("text after the JSON");
    return this.#json;
  }

  /** Reads the next member or item of the innermost level, or its end. */
  #step(level: Level): void {
    const before = this.#at;
    this.#skipSpace();
    if (this.#char() === level.close) {
      this.#at++;
      this.#json += level.close;
      this.#levels.pop();
      return;
    }
    if (level.last !== undefined) this.#comma(level, this.#at > before);
    if (this.#char() === level.close) return; // after a trailing comma
    if (level.keys) this.#key(level.keys);
    level.last = this.#value();
  }

  #comma(level: Level, hasSpace: boolean): void {
    if (this.#char() === ",") {
      this.#at++;
      this.#skipSpace();
      if (this.#char() === level.close) return;
    } else if (!this.#mayLackComma(level, hasSpace)) this.#refuseChar("a comma");
    this.#json += ",";
  }

  /** Two strings in a row may be one with quotes in it, and two numbers one with a space in it. */
  #mayLackComma({ keys, last }: Level, hasSpace: boolean): boolean {
    if (keys) return closings[this.#char()] !== undefined && (hasSpace || last !== "string");
    return this.#char() === "{" || this.#char() === "[";
  }

  #key(keys: Set<string>): void {
    let json: string;
    if (closings[this.#char()] !== undefined) json = this.#string();
    else {
      const name = this.#match(this.#word);
      if (name === undefined) this.#refuseChar("a key");
      json = JSON.stringify(name);
    }
    const key = JSON.parse(json) as string;
    if (keys.has(key)) this.#refuse("a key twice");
    keys.add(key);
    this.#skipSpace();
    if (this.#char() !== ":") this.#refuseChar("a colon after the key");
    this.#at++;
    this.#json += `${json}:`;
    this.#skipSpace();
  }

  #value(): Kind {
    const char = this.#char();
    if (char === "{" || char === "[") {
      if (this.#levels.length >= maxJsonDepth) this.#refuse(`more than ${maxJsonDepth} levels of nesting`);
      this.#at++;
      this.#json += char;
      const isObject = char === "{";
      this.#levels.push({
        close: isObject ? "}" : "]",
        keys: isObject ? new Set() : undefined,
        last: undefined,
      });
      return "bracket";
    }
    if (closings[char] !== undefined) {
      this.#json += this.#string();
      return "string";
    }
    const start = this.#at;
    const number = this.#match(numberToken);
    const name = number === undefined ? (this.#match(this.#word) ?? "") : "";
    const literal = number ?? (words.includes(name) ? name : words[pythonWords.indexOf(name)]);
    if (literal === undefined) {
      this.#at = start;
      this.#refuseChar("a value in quotes, a number, true, false or null");
    }
    // `2.`, `007`, `10px`, `None.x`: what follows belongs to it, and makes it something else.
    if (/[^\s,:{}[\]"'“”‘’]/.test(this.#char())) this.#refuse("a value without quotes");
    this.#json += literal;
    return number === undefined ? "word" : "number";
  }

  /** The string at this place as JSON. */
  #string(): string {
    const special = this.#special;
    const close = closings[this.#char()] as string;
    this.#at++;
    let json = '"';
    let copied = this.#at;
    let hasUnknown = false;
    let hasKnown = false;
    for (special.lastIndex = this.#at; ; ) {
      const match = special.exec(this.#text);
      if (!match) this.#refuse("a string that does not end");
      const { index } = match;
      const char = match[0];
      if (char === close) {
        this.#at = index + 1;
        // Where one backslash was not doubled, `\n` and `\\` may be meant as they stand.
        if (hasUnknown && hasKnown)
          this.#refuse("a string in which some backslashes are escapes and some are not");
        return `${json}${this.#text.slice(copied, index)}"`;
      }
      if (char === "”" || char === "’" || (char === "'" && close !== "'")) continue;
      json += this.#text.slice(copied, index);
      if (char !== "\\") json += JSON.stringify(char).slice(1, -1);
      else {
        const sequence = this.#escape(index, close);
        json += sequence.json;
        hasUnknown ||= sequence.kind === "unknown";
        hasKnown ||= sequence.kind === "known";
        special.lastIndex = index + sequence.length;
      }
      copied = special.lastIndex;
    }
  }

  #escape(index: number, close: string): { json: string; length: number; kind?: "known" | "unknown" } {
    const next = this.#text[index + 1] ?? "";
    if (next === "u") {
      const json = this.#text.slice(index, index + 6);
      if (!/^\\u[0-9a-fA-F]{4}$/.test(json)) this.#refuse("an escape \\u without four hexadecimal digits");
      return { json, length: 6, kind: "known" };
    }
    if (next === '"') return { json: '\\"', length: 2 };
    if (next === close) return { json: next, length: 2 };
    if (next !== "" && "\\/bfnrt".includes(next)) return { json: `\\${next}`, length: 2, kind: "known" };
    return { json: "\\\\", length: 1, kind: "unknown" };
  }

  #char(): string {
    return this.#text[this.#at] ?? "";
  }

  #skipSpace(): void {
    this.#match(space);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #refuseChar(expected: string): never {
    if (this.#char() === "") this.#refuse("a text that ends too early");
    throw new JsonRepairError(
      `text that is not valid JSON (expected ${expected} at position ${this.#at}, got ${JSON.stringify(this.#char())})`,
    );
  }

  #refuse(what: string): never {
    throw new JsonRepairError(`text that is not valid JSON (${what} at position ${this.#at})`);
  }
}
