// Finds the JSON objects in a text: in a Markdown fence, between words, or several of them.

export interface FoundObjects {
  /** The text of each outermost `{…}`. */
  readonly objects: readonly string[];
  /** Whether an object, or a string in it, is not closed: then something is missing, and nothing can be trusted. */
  readonly isOpen: boolean;
  /** Whether the text around the objects is prose. Otherwise they are parts of a larger value, such as a list. */
  readonly isProse: boolean;
}

const closings: Readonly<Record<string, string>> = { '"': '"', "'": "'", "“": "”", "‘": "’" };

/** Looks at each character once. */
export function findJsonObjects(text: string): FoundObjects {
  const objects: string[] = [];
  let isProse = true;
  let start = -1;
  let end = 0;
  let depth = 0;
  let quote = "";
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (quote !== "") {
      if (char === "\\") i++;
      else if (char === quote) quote = "";
    } else if (depth > 0 && closings[char] !== undefined) quote = closings[char];
    else if (char === "{" || (depth > 0 && char === "[")) {
      if (depth === 0) {
        start = i;
        isProse &&= mayLead(text.slice(end, i)) && (objects.length === 0 || mayFollow(text.slice(end, i)));
      }
      depth++;
    } else if (depth > 0 && (char === "}" || char === "]")) {
      depth--;
      if (depth > 0) continue;
      end = i + 1;
      objects.push(text.slice(start, end));
    } else if (depth > 0 && (char === "…" || text.startsWith("...", i))) {
      // What the model left out cannot be known.
      return { objects: [], isOpen: true, isProse };
    }
  }
  return { objects, isOpen: depth > 0, isProse: isProse && mayFollow(text.slice(end)) };
}

/** Not after `[`, `f(`, `"key":`, a comma or a quote: there the object is a part of a value. */
function mayLead(before: string): boolean {
  return !/(?:[[(,+"'“‘]|["'”’]\s*:)$/.test(before.trimEnd());
}

/** Not before a comma, a `+` or a quote. A closing brace too many does no harm at the very end. */
function mayFollow(after: string): boolean {
  const rest = after.trimStart();
  return rest.startsWith("}") ? /^[}\s`]*$/.test(rest) : !/^[,:+\]"'”’]/.test(rest);
}
