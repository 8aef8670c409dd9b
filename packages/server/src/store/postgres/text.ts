// Text of clients as PostgreSQL can keep it: it has no NUL, and no half of a surrogate pair.

/** Any text, one to one: what cannot be kept is escaped as in JSON, and so is every backslash. */
export function toDbText(text: string): string {
  const isPlain = text.isWellFormed() && !text.includes("\\") && !text.includes("\u0000");
  return isPlain ? text : JSON.stringify(text).slice(1, -1);
}

/** What `toDbText` was given. */
export function fromDbText(text: string): string {
  return text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text;
}
