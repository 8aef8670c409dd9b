// What is known about the token counts that a model's server reports: how dense its tokens are, and whether a count is
// that of the whole prompt. Some servers count only what their cache did not have.

import type { ModelProvider, Usage } from "../model/provider.ts";
import type { PromptSize } from "./prompt-size.ts";

/** Before anything was counted: fewer tokens than any tokenizer needs. */
const [leastPerRun, leastPerCharacter] = [0.25, 0.06];
/** Further texts may have fewer tokens for their size than those that were counted. */
const caution = 0.8;
/** Smaller prompts say little: the template is a large part of them. */
const tellingCharacters = 1000;
/** In so many of them, runs are counted: that costs more than the rest. */
const samplesOfRuns = 8;
/** What templates write around a message; more rather than less. */
const tokensPerMessage = 16;
/** How many prompts in a row must have grown as whole counts do. */
const growthsNeeded = 3;

const known = new WeakMap<ModelProvider, PromptCounts>();

export class PromptCounts {
  /** The fewest tokens that were counted per run, and per character. */
  #perRun = Number.POSITIVE_INFINITY;
  #perCharacter = Number.POSITIVE_INFINITY;
  #samples = 0;
  #growths = 0;
  #areUncached = false;
  /** Whether cached tokens are certainly part of the count. */
  #includesCached = false;

  /** Those of a model, shared by all its conversations. */
  static of(model: ModelProvider): PromptCounts {
    const counts = known.get(model) ?? new PromptCounts();
    known.set(model, counts);
    return counts;
  }

  /** Whether the server certainly counts whole prompts. */
  get areWhole(): boolean {
    return !this.#areUncached && this.#growths >= growthsNeeded;
  }

  /** Whether it counts only what its cache did not have. */
  get areUncached(): boolean {
    return this.#areUncached;
  }

  /**
   * The tokens of a prompt, between bounds. `before` are those of the prompt that it begins with, `added` is the rest: a
   * count too small for both and large enough for the second shows that the server leaves out what it had cached.
   */
  read(
    { inputTokens, cachedTokens }: Usage,
    before: number | undefined,
    added: PromptSize,
  ): { readonly least: number; readonly most: number } {
    const count = { least: inputTokens, most: inputTokens };
    // Too many for the new part alone.
    const hasGrown = before !== undefined && inputTokens >= before * 0.98 && inputTokens > added.most;
    if (cachedTokens !== undefined) {
      this.#growths = growthsNeeded;
      // Cached tokens are part of the count, by OpenAI's rules. Until that shows, they may come on top of it.
      if (hasGrown && cachedTokens >= before / 2) this.#includesCached = true;
      return this.#includesCached ? count : { ...count, most: inputTokens + cachedTokens };
    }
    if (before === undefined || this.areWhole) return count;
    if (hasGrown) this.#growths += 1;
    else if (inputTokens < before / 2 && inputTokens <= added.most) this.#areUncached = true;
    return count;
  }

  /** Whether a count may be that of the new part alone, so that it says nothing about the rest. */
  mayBePartial({ inputTokens, cachedTokens }: Usage, added: PromptSize): boolean {
    return cachedTokens === undefined && inputTokens <= added.most;
  }

  /** Fewer tokens than this a text of so many characters hardly has. */
  leastByCharacters(characters: number): number {
    const isKnown = Number.isFinite(this.#perCharacter);
    return characters * (isKnown ? this.#perCharacter * caution : leastPerCharacter);
  }

  /** Fewer tokens than this a text of so many runs hardly has. */
  leastByRuns(runs: number): number {
    // A tokenizer that splits at words has at least a token for each run.
    return runs * (Number.isFinite(this.#perRun) ? Math.min(1, this.#perRun * caution) : leastPerRun);
  }

  /** Learns from a prompt that the server read whole. `runs` is asked for the first few. */
  learn(characters: number, runs: () => number, counted: number, messageCount: number): void {
    if (characters < tellingCharacters || this.#areUncached) return;
    const tokens = Math.max(0, counted - messageCount * tokensPerMessage);
    this.#perCharacter = Math.min(this.#perCharacter, tokens / characters);
    if (this.#samples >= samplesOfRuns) return;
    this.#samples += 1;
    this.#perRun = Math.min(this.#perRun, tokens / Math.max(1, runs()));
  }
}
