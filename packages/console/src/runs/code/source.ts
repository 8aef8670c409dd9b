// Values as source code. Whatever a text has in it, it stays a text: code is only ever made of literals.

/** A JSON value as a JavaScript literal. */
export function toSource(value: unknown, indent = ""): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return quote(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return block(
      "[",
      value.map((each) => toSource(each, inner)),
      "]",
      indent,
    );
  }
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  if (fields.length === 0) return "{}";
  return block(
    "{",
    fields.map(([name, each]) => `${toKey(name)}: ${toSource(each, inner)}`),
    "}",
    indent,
  );
}

/** A string literal. JSON's are JavaScript's too, and have no line breaks. */
export function quote(text: string): string {
  return JSON.stringify(text);
}

/** A text as one line of a comment. */
export function toComment(text: string, maxChars = 100): string {
  // Every character that ends a line in JavaScript or in a shell.
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return line.length > maxChars ? `${line.slice(0, maxChars)}…` : line;
}

function block(open: string, parts: readonly string[], close: string, indent: string): string {
  const short = `${open === "{" ? "{ " : open}${parts.join(", ")}${close === "}" ? " }" : close}`;
  if (short.length + indent.length <= 90 && !short.includes("\n")) return short;
  return `${open}\n${parts.map((part) => `${indent}  ${part},\n`).join("")}${indent}${close}`;
}

/** A name as a key. `__proto__` would set the prototype, so it is computed. */
function toKey(name: string): string {
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}
