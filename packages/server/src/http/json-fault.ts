// Finds where a text stops being JSON. The runtime's own message names the place only sometimes.

export interface JsonFault {
  /** Both from 1, as editors count. */
  line: number;
  column: number;
  /** What stands there, or that nothing does. */
  found: string;
}

type Expected = "value" | "value or ]" | "key" | "key or }" | ":" | ", or end";

const space = /[ \t\n\r]*/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** The first place where `text` is not JSON, or undefined when it is. */
export function findJsonFault(text: string): JsonFault | undefined {
  const offset = faultOffset(text);
  if (offset === undefined) return undefined;
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  const column = offset - before.lastIndexOf("\n");
  const char = text.codePointAt(offset);
  return { line, column, found: char === undefined ? "the end" : JSON.stringify(String.fromCodePoint(char)) };
}

function faultOffset(text: string): number | undefined {
  const closers: string[] = [];
  let expected = "value" as Expected;
  let at = 0;
  for (;;) {
    at = endOf(space, text, at) ?? at;
    const char = text[at];
    if (expected === ", or end") {
      const closer = closers.at(-1);
      if (closer === undefined) return char === undefined ? undefined : at;
      if (char === closer) closers.pop();
      else if (char === ",") expected = closer === "}" ? "key" : "value";
      else return at;
      at++;
    } else if (expected === ":") {
      if (char !== ":") return at;
      expected = "value";
      at++;
    } else if ((expected === "key or }" && char === "}") || (expected === "value or ]" && char === "]")) {
      closers.pop();
      expected = ", or end";
      at++;
    } else if (char === '"') {
      const { end, isWhole } = scanString(text, at);
      if (!isWhole) return end;
      expected = expected === "key" || expected === "key or }" ? ":" : ", or end";
      at = end;
    } else if (expected === "key" || expected === "key or }") {
      return at;
    } else if (char === "{" || char === "[") {
      closers.push(char === "{" ? "}" : "]");
      expected = char === "{" ? "key or }" : "value or ]";
      at++;
    } else {
      const end = endOf(scalar, text, at);
      if (end === undefined) return at;
      expected = ", or end";
      at = end;
    }
  }
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The end of a string that begins at `at`, or where it goes wrong. A pattern would run out of stack here. */
function scanString(text: string, at: number): { end: number; isWhole: boolean } {
  let end = at + 1;
  for (;;) {
    const char = text[end];
    if (char === '"') return { end: end + 1, isWhole: true };
    if (char === "\\") {
      const next = endOf(escaped, text, end);
      if (next === undefined) return { end, isWhole: false };
      end = next;
    } else if (char === undefined || char < " ") return { end, isWhole: false };
    else end++;
  }
}
