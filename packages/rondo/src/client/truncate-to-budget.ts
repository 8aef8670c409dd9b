// Drops the oldest turns of a conversation until it fits into a token budget.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { checkBoolean, checkLimit, checkOptions } from "../error/check.ts";
import { brandError, RondoError } from "../error/rondo-error.ts";
import { type EstimateOptions, estimateOptionNames, estimatorOf, roundUp } from "../model/estimate-tokens.ts";
import type { Message } from "../model/message.ts";

export interface BudgetOptions extends EstimateOptions {
  /** The budget, as `estimateTokens()` counts. Leave room for tools and for the answer. */
  maxTokens: number;
  /**
   * How many tokens at most remain after a cut. A lower mark cuts seldom, and much at a time: in between, the beginning
   * of the prompt stays the same as the conversation grows, so that model servers can use their cache. The cuts follow
   * from the messages alone. Default: `maxTokens`.
   */
  keepTokens?: number;
  /**
   * Whether the newest turn may lose its oldest rounds, if nothing else helps. Its prompt and its last round stay.
   * Default: false.
   */
  cutNewestTurn?: boolean;
}

/** The part of a conversation that must stay does not fit into the budget. */
export class ContextBudgetError extends RondoError {
  static {
    brandError(ContextBudgetError, "ContextBudgetError");
  }
  readonly code = "context_budget";
  /** The budget. */
  readonly maxTokens: number;
  /** The estimated tokens of what must stay. */
  readonly neededTokens: number;

  constructor(maxTokens: number, neededTokens: number) {
    super(
      `The conversation cannot be cut to ${maxTokens} tokens: what must stay has about ${neededTokens}. ` +
        "Raise maxTokens, shorten the newest messages, such as long results of tools, or let " +
        "truncateToBudget() cut into the newest turn too, with cutNewestTurn: true.",
    );
    this.maxTokens = maxTokens;
    this.neededTokens = neededTokens;
  }
}

/**
 * A copy of the list without its oldest turns, as few of them as needed, or down to `keepTokens`. A turn is a user's message with all
 * that follows it up to the next one, so a call never loses its results, and what remains starts with a user's
 * message, as many models demand. The system message and the newest turn always stay.
 *
 * @throws {ContextBudgetError} when even these do not fit.
 */
export function truncateToBudget(messages: readonly Message[], options: BudgetOptions): Message[] {
  checkOptions("options", options, ["maxTokens", "keepTokens", "cutNewestTurn", ...estimateOptionNames]);
  const maxTokens = checkLimit("maxTokens", options.maxTokens);
  const keepTokens = Math.min(maxTokens, checkLimit("keepTokens", options.keepTokens ?? maxTokens));
  const cutNewestTurn = checkBoolean("cutNewestTurn", options.cutNewestTurn ?? false);
  if (!Array.isArray(messages))
    throw new InvalidTypeError({ field: "messages", expected: "a list of messages", received: messages });

  const costs = messages.map(estimatorOf(options));
  const tokensBefore = runningSums(costs);
  const bodyStart = indexOrEnd(messages, ({ role }) => role !== "system");
  const tokensOf = ({ start, question }: Cut, end: number) => {
    const fixed = (tokensBefore[bodyStart] ?? 0) + (question === undefined ? 0 : (costs[question] ?? 0));
    return roundUp(fixed + (tokensBefore[end] ?? 0) - (tokensBefore[start] ?? 0));
  };
  // Results without a call are never a start: no server takes them.
  const whole = indexOrEnd(messages, ({ role }, index) => index >= bodyStart && role !== "tool");
  let cut: Cut = { start: whole };
  // Where less is kept than allowed, each earlier request decides where the ones after it begin.
  for (const end of keepTokens < maxTokens ? requestEnds(messages, whole) : [messages.length]) {
    if (tokensOf(cut, end) <= maxTokens) continue;
    let best: Cut | undefined;
    for (const shorter of cutsOf(messages, whole, end, cutNewestTurn)) {
      const tokens = tokensOf(shorter, end);
      if (!best && tokens > maxTokens && end === messages.length)
        throw new ContextBudgetError(maxTokens, tokens);
      if (best && tokens > keepTokens) break;
      best = shorter;
    }
    cut = best ?? cut;
  }
  return messages.filter((_, index) => index < bodyStart || index === cut.question || index >= cut.start);
}

/** How many messages each request of the conversation had: all before an answer, and now all. */
function* requestEnds(messages: readonly Message[], start: number): Generator<number> {
  for (let index = start; index < messages.length; index++)
    if (messages[index]?.role === "assistant") yield index;
  yield messages.length;
}

/** What may remain, after the system message: all from `start` on, and perhaps an older `question` before it. */
interface Cut {
  readonly start: number;
  readonly question?: number;
}

/** All that may remain of the messages before `end`, the shortest first. */
function* cutsOf(
  messages: readonly Message[],
  whole: number,
  end: number,
  cutNewestTurn: boolean,
): Generator<Cut> {
  let newest = end - 1;
  while (newest >= whole && messages[newest]?.role !== "user") newest--;
  for (let start = end - 1; start >= whole; start--) {
    const role = messages[start]?.role;
    if (start > newest && newest >= whole && cutNewestTurn && role !== "tool")
      yield { start, question: newest };
    if (start > whole && role === "user") yield { start };
  }
  yield { start: whole };
}

function indexOrEnd(
  messages: readonly Message[],
  test: (message: Message, index: number) => boolean,
): number {
  const index = messages.findIndex(test);
  return index < 0 ? messages.length : index;
}

/** For each index, the sum of all before it. */
function runningSums(costs: readonly number[]): number[] {
  const sums = [0];
  for (const cost of costs) sums.push((sums.at(-1) ?? 0) + cost);
  return sums;
}
