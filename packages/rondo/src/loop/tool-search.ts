// Finds tools by words, for models that cannot take the definitions of all of them at once.

import type { AnyTool, OpenAITool } from "../tool/tool.ts";

/** So many tools are found at once, and so many characters of their definitions are shown. */
const [mostFound, mostCharacters] = [5, 24_000];
/** So many names are listed at most. */
const mostNames = 100;

type Definition = OpenAITool["function"];

/** The names of the loop's own tools for tools that have to be found. */
export const [toolSearchName, callToolName] = ["tool_search", "call_tool"];

/** What the model reads of found tools. */
export function foundTools(tools: readonly Definition[], call: string = callToolName) {
  const hint =
    tools.length === 0
      ? "Nothing fits. Try other words, or a name."
      : `Call one with ${call}, by its name and with arguments that fit its parameters.`;
  return { tools, hint };
}

interface Entry {
  readonly definition: Definition;
  readonly name: readonly string[];
  readonly text: ReadonlySet<string>;
}

export class ToolSearch {
  readonly #entries: readonly Entry[];
  /** In how many tools a word occurs. */
  readonly #uses = new Map<string, number>();

  constructor(tools: readonly AnyTool[]) {
    this.#entries = tools.map((tool) => toEntry(tool.toOpenAI().function));
    for (const { name, text } of this.#entries)
      for (const word of new Set([...name, ...text])) this.#uses.set(word, (this.#uses.get(word) ?? 0) + 1);
  }

  /** The definitions that fit a query best, the best first. A tool's own name finds that tool. */
  find(query: string): Definition[] {
    const words = wordsOf(query);
    const found = this.#entries
      .map((entry) => ({ ...entry, score: this.#score(entry, words, query) }))
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score)
      .slice(0, mostFound);
    let characters = 0;
    return found.flatMap(({ definition }, index) => {
      characters += JSON.stringify(definition).length;
      return index === 0 || characters <= mostCharacters ? [definition] : [];
    });
  }

  /** The names of the tools, for a model that has found none. */
  get names(): string[] {
    return this.#entries.slice(0, mostNames).map(({ definition }) => definition.name);
  }

  /** Words in the name count most, and rare words more than common ones. */
  #score({ definition, name, text }: Entry, words: readonly string[], query: string): number {
    if (query.includes(definition.name)) return Number.MAX_SAFE_INTEGER;
    let score = 0;
    for (const word of words) {
      const rarity = Math.log(1 + this.#entries.length / (this.#uses.get(word) ?? this.#entries.length));
      if (name.includes(word)) score += 4 * rarity;
      else if (text.has(word)) score += rarity;
      else if (word.length > 3 && name.some((part) => part.startsWith(word) || word.startsWith(part)))
        score += 2 * rarity;
    }
    return score;
  }
}

function toEntry(definition: Definition): Entry {
  const { name, description, parameters } = definition;
  const { properties: given } = parameters as { properties?: unknown };
  const properties = typeof given === "object" && given !== null ? Object.keys(given) : [];
  return {
    definition,
    name: wordsOf(name),
    text: new Set([...wordsOf(description), ...properties.flatMap(wordsOf)]),
  };
}

/** The words of a text, in lower case: `readFile_v2` has read, file and v2. */
function wordsOf(text: string): string[] {
  const spaced = text.slice(0, 4096).replace(/([a-z0-9])([A-Z])/g, "$1 $2");
  return spaced.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
