// Finds the tool for a job by the words of its name, and of its description.

import type { OpenAITool } from "../tool/tool.ts";

/** The words of a name in lower case: `getCurrent_time` has get, current and time. */
export function wordsOfName(name: string): string[] {
  return wordsOf(name.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replaceAll("_", " "));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** The first tool with one of the words in its name. */
export function findTool(tools: readonly OpenAITool[], words: readonly string[]): OpenAITool | undefined {
  return tools.find((tool) => wordsOfName(tool.function.name).some((word) => words.includes(word)));
}

/** All tools with one of the words: first those with it in their name, then those with it in their description. */
export function toolsFor(tools: readonly OpenAITool[], words: readonly string[]): OpenAITool[] {
  const has = (found: readonly string[]) => found.some((word) => words.includes(word));
  const named = tools.filter((tool) => has(wordsOfName(tool.function.name)));
  const described = tools.filter((tool) => has(wordsOf(tool.function.description ?? "")));
  return [...new Set([...named, ...described])];
}

// Words that many names have and that tell nothing.
const emptyWords = [
  "get",
  "fetch",
  "do",
  "run",
  "the",
  "a",
  "an",
  "of",
  "for",
  "tool",
  "current",
  "lookup",
  "api",
];

/** The tool whose name is in the text, in one word or in several: `get_weather` in "the weather in Paris". */
export function namedTool(tools: readonly OpenAITool[], text: string): OpenAITool | undefined {
  const said = new Set(wordsOf(text).flatMap((word) => [word, word.replace(/s$/, "")]));
  let best: OpenAITool | undefined;
  let most = 0;
  for (const tool of tools) {
    const { name } = tool.function;
    const words = wordsOfName(name).filter((word) => !emptyWords.includes(word));
    const isWhole = name.length > 2 && text.toLowerCase().includes(name.toLowerCase());
    const isNamed = isWhole || (words.length > 0 && words.every((word) => said.has(word.replace(/s$/, ""))));
    const count = isWhole ? words.length + 1 : words.length;
    if (!isNamed || count <= most) continue;
    best = tool;
    most = count;
  }
  return best;
}
