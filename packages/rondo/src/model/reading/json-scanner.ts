// Finds the end and the top-level members of a JSON object while it arrives, in one pass. It tolerates what models
// write instead of JSON: single quotes, names without quotes, trailing commas.

/** One `key: value` of the object, as offsets into the scanned text. */
export interface JsonMember {
  readonly keyStart: number;
  readonly keyEnd: number;
  /** Undefined until the value has begun. */
  valueStart?: number;
  /** Undefined until the value is complete. */
  valueEnd?: number;
}

type Place = "root" | "list" | "before-key" | "key" | "before-value" | "value" | "after-key" | "after-value";

/** Scans one object or list. */
export class JsonScanner {
  /** `invalid` when the text can no longer become an object or a list. */
  status: "open" | "complete" | "invalid" = "open";
  /** Of the outermost object; a list has none. */
  readonly members: JsonMember[] = [];
  readonly #keepsMembers: boolean;
  #member: JsonMember | undefined;
  #place: Place = "root";
  #depth = 0;
  /** The quote that ends the current string, or empty. */
  #quote = "";
  #isEscaped = false;
  #keyStart = 0;
  /** Whether a key or a value of the outermost object ended with the last character. */
  #hasEndedPart = false;

  /** `keepsMembers`: whether `members` is filled. Default: false, for an object can have millions. */
  constructor({ keepsMembers = false }: { keepsMembers?: boolean } = {}) {
    this.#keepsMembers = keepsMembers;
  }

  /**
   * Scans `text` from `from` on, where `text[0]` is character number `base` of the whole. Returns where it stopped:
   * after the value, at an invalid character, or at the end of the text. With
   * `stopsAtParts` it also stops after each key and each value of the outermost object.
   */
  scan(text: string, from: number, base: number, stopsAtParts = false): number {
    this.#hasEndedPart = false;
    for (let i = from; i < text.length; i++) {
      const char = text[i] as string;
      if (this.#quote !== "") this.#inString(char, base + i);
      else if (this.#depth > 1 || this.#place === "list") this.#inside(char, base + i);
      else this.#outermost(char, base + i);
      if (this.status === "complete") return i + 1;
      if (this.status === "invalid") return i;
      if (this.#hasEndedPart && stopsAtParts) return i + 1;
    }
    return text.length;
  }

  #inString(char: string, at: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (char === "\\") this.#isEscaped = true;
    else if (char === this.#quote) {
      this.#quote = "";
      if (this.#depth === 1) this.#endPart(at + 1);
    }
  }

  /** Below the top level only brackets and strings count: the repair finds other faults. */
  #inside(char: string, at: number): void {
    if (char === '"' || char === "'") this.#quote = char;
    else if (char === "{" || char === "[") this.#depth++;
    else if (char === "}" || char === "]") {
      this.#depth--;
      if (this.#depth === 0) this.status = "complete";
      else if (this.#depth === 1) this.#endPart(at + 1);
    } else if (char === "<" || char === "`") this.status = "invalid";
  }

  #outermost(char: string, at: number): void {
    if (this.#place === "key" || this.#place === "value") {
      if (isBare(char)) return;
      this.#endPart(at);
    }
    if (isSpace(char)) return;
    switch (this.#place) {
      case "root":
        this.#depth = 1;
        if (char === "[") this.#place = "list";
        else if (char === "{") this.#place = "before-key";
        else this.status = "invalid";
        return;
      case "after-key":
        if (char === ":") this.#place = "before-value";
        else this.status = "invalid";
        return;
      case "before-value":
        this.#beginPart("value", char, at);
        return;
      default:
        if (char === "}") this.status = "complete";
        else if (char === ",") this.#place = "before-key";
        else this.#beginPart("key", char, at);
    }
  }

  #beginPart(part: "key" | "value", char: string, at: number): void {
    if (char === '"' || char === "'") this.#quote = char;
    else if (part === "value" && (char === "{" || char === "[")) this.#depth++;
    else if (!isBare(char)) {
      this.status = "invalid";
      return;
    }
    this.#place = part;
    if (part === "key") this.#keyStart = at;
    else (this.#member as JsonMember).valueStart = at;
  }

  #endPart(at: number): void {
    this.#hasEndedPart = true;
    if (this.#place === "key") {
      this.#member = { keyStart: this.#keyStart, keyEnd: at };
      if (this.#keepsMembers) this.members.push(this.#member);
      this.#place = "after-key";
    } else if (this.#place === "value") {
      (this.#member as JsonMember).valueEnd = at;
      this.#place = "after-value";
    }
  }
}

/** Whether the text is one closed object or list, even if it is not valid JSON. */
export function isClosedJson(text: string): boolean {
  const scanner = new JsonScanner();
  scanner.scan(text, 0, 0);
  return scanner.status === "complete";
}

export function isSpace(char: string): boolean {
  return char === " " || char === "\n" || char === "\r" || char === "\t";
}

/** Characters of numbers, `true`, and names without quotes. */
function isBare(char: string): boolean {
  return !isSpace(char) && !"{}[],:\"'<`".includes(char);
}
