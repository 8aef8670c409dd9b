// Converts a Python literal to JSON, in one pass.

const words: Readonly<Record<string, string>> = { True: "true", False: "false", None: "null" };
const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  a: "\u0007",
  "0": "\0",
  "\n": "",
};
/** How many hexadecimal digits follow. */
const codeLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/**
 * Converts strings in either quotes, raw ones too, `True`, `False` and `None`, tuples and trailing commas. Everything else stays as it
 * is, so the result may not be JSON.
 */
export function pythonToJson(text: string): string {
  const pieces: string[] = [];
  let copied = 0;
  /** The position of a trailing comma, or -1. */
  let comma = -1;
  const levels: Level[] = [];
  const replace = (start: number, end: number, by: string) => {
    pieces.push(text.slice(copied, start), by);
    copied = end;
  };
  for (let at = 0; at < text.length; ) {
    const char = text[at] as string;
    let end = at + 1;
    if (char === "'" || char === '"') {
      end = stringEnd(text, at);
      const value = unescaped(text.slice(at + 1, end - 1));
      if (value !== undefined) replace(at, end, JSON.stringify(value));
    } else if ("([{".includes(char)) {
      if (char === "(") replace(at, end, "[");
      levels.push({ opened: pieces.length - 1, hasComma: false, isEmpty: true });
    } else if (")]}".includes(char)) {
      if (comma >= 0) replace(comma, comma + 1, "");
      const level = levels.pop();
      if (char === ")") {
        // Without a comma it is not a tuple, but the value itself: `(1)` is 1.
        const isTuple = !level || level.hasComma || level.isEmpty;
        if (!isTuple) pieces[level.opened] = "";
        replace(at, end, isTuple ? "]" : "");
      }
    } else if ((char === "r" || char === "R") && /["']/.test(text[end] ?? "")) {
      // A raw string: its backslashes are characters.
      const start = end;
      end = stringEnd(text, start);
      replace(at, end, JSON.stringify(text.slice(start + 1, end - 1)));
    } else if (isLetter(char)) {
      while (end < text.length && isLetter(text[end] as string)) end++;
      const word = end - at > 5 ? undefined : words[text.slice(at, end)];
      if (word !== undefined) replace(at, end, word);
    }
    const level = levels.at(-1);
    if (char === ",") {
      comma = at;
      if (level) level.hasComma = true;
    } else if (char.trim() !== "") {
      comma = -1;
      if (level && !"([{".includes(char)) level.isEmpty = false;
    }
    at = end;
  }
  return pieces.join("") + text.slice(copied);
}

/** Brackets that are open. */
interface Level {
  /** Where its bracket is among the pieces. */
  readonly opened: number;
  hasComma: boolean;
  isEmpty: boolean;
}

function stringEnd(text: string, start: number): number {
  const quote = text[start];
  let at = start + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/**
 * Python keeps unknown escapes, as in `\d+`. Undefined for a string that has these and others: `\d+\b` is probably a
 * pattern, in which all backslashes are meant.
 */
function unescaped(text: string): string | undefined {
  if (!text.includes("\\")) return text;
  let result = "";
  let copied = 0;
  let hasKnown = false;
  let hasUnknown = false;
  for (let at = text.indexOf("\\"); at >= 0; at = text.indexOf("\\", copied)) {
    const char = text[at + 1] ?? "";
    const digits = text.slice(at + 2, at + 2 + (codeLengths[char] ?? 0));
    const code = /^[\da-f]+$/i.test(digits) ? Number.parseInt(digits, 16) : -1;
    result += text.slice(copied, at);
    if (code >= 0 && code <= 0x10_ff_ff && digits.length === codeLengths[char]) {
      result += String.fromCodePoint(code);
      copied = at + 2 + digits.length;
      hasKnown = true;
    } else {
      const isQuote = char !== "" && "'\"".includes(char);
      const known = isQuote || char === "\\" ? char : escapes[char];
      if (known === undefined) hasUnknown = true;
      else if (!isQuote) hasKnown = true;
      result += known ?? `\\${char}`;
      copied = at + 2;
    }
  }
  return hasKnown && hasUnknown ? undefined : result + text.slice(copied);
}

function isLetter(char: string): boolean {
  return /\w/.test(char);
}
