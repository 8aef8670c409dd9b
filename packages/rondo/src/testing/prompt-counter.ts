// Counts the tokens of prompts as llama-server does: all of them, and those that its cache had from an earlier prompt.

import type { Usage } from "../model/provider.ts";

/** The tokens of a prompt. */
export interface PromptCount {
  readonly tokens: number;
  /** How many of them an earlier prompt begins with as well. */
  readonly cachedTokens: number;
}

/** How many prompts are kept, each in a slot of its own. */
const slots = 4;
const charactersPerToken = 4;

/** Counts prompts one after the other. Each is written as its tools, then its messages, as chat templates do. */
export class PromptCounter {
  /** The newest last. */
  #prompts: string[] = [];

  count(body: unknown): PromptCount {
    const prompt = promptText(body);
    const shared = this.#prompts.map((earlier) => sharedLength(earlier, prompt));
    const longest = Math.max(0, ...shared);
    // The prompt that it continues makes place for it.
    if (longest > 0) this.#prompts.splice(shared.indexOf(longest), 1);
    this.#prompts = [...this.#prompts, prompt].slice(-slots);
    return { tokens: tokensOf(prompt.length), cachedTokens: Math.floor(longest / charactersPerToken) };
  }
}

/** The usage of an answer whose prompt was counted. */
export function countedUsage({ tokens, cachedTokens }: PromptCount, answer: string): Usage {
  const outputTokens = tokensOf(answer.length);
  return { inputTokens: tokens, outputTokens, totalTokens: tokens + outputTokens, cachedTokens };
}

function promptText(body: unknown): string {
  const { tools, messages } = Object(body) as { tools?: unknown; messages?: unknown };
  const lines = [...(tools ? [tools] : []), ...(Array.isArray(messages) ? messages : [])];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function sharedLength(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  let length = 0;
  while (length < end && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
  return length;
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
