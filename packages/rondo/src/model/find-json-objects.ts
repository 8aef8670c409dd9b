// Finds the objects in a text that should have been JSON only: in a Markdown fence, between words, or twice.

export interface FoundObjects {
  /** The text of each outermost `{…}`. */
  readonly objects: readonly string[];
  /** Whether an object, or a string in it, is left open: then something is missing, and nothing can be trusted. */
  readonly isOpen: boolean;
}

export function findJsonObjects(text: string): FoundObjects {
  // `{\"a\": 1}` has lost the quotes around it, but not the backslashes.
  if (/^\s*\{\s*\\"/.test(text)) return findJsonObjects(text.replaceAll('\\"', '"'));
  const objects: string[] = [];
  let start = -1;
  let depth = 0;
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (quote !== "") {
      if (char === "\\") i++;
      else if (char === quote) quote = "";
    } else if (depth > 0 && (char === '"' || char === "'")) quote = char;
    else if (char === "{" || (depth > 0 && char === "[")) {
      if (depth === 0) start = i;
      depth++;
    } else if (depth > 0 && (char === "}" || char === "]")) {
      depth--;
      if (depth === 0) objects.push(text.slice(start, i + 1));
    } else if (depth > 0 && (char === "…" || text.startsWith("...", i))) {
      // What the model left out cannot be known.
      return { objects: [], isOpen: true };
    }
  }
  return { objects, isOpen: depth > 0 };
}
