// Drops the oldest turns of a conversation until it fits into a token budget.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { checkBoolean, checkLimit, checkOptions } from "../error/check.ts";
import { brandError, RondoError } from "../error/rondo-error.ts";
import type { Message } from "../model/message.ts";
import { type EstimateOptions, estimateOptionNames, estimatorOf, roundUp } from "./estimate-tokens.ts";

export interface BudgetOptions extends EstimateOptions {
  /** The budget, as `estimateTokens()` counts. Leave room for tools and for the answer. */
  maxTokens: number;
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
 * A copy of the list without its oldest turns, as few of them as needed. A turn is a user's message with all
 * that follows it up to the next one, so a call never loses its results, and what remains starts with a user's
 * message, as many models demand. The system message and the newest turn always stay.
 *
 * @throws {ContextBudgetError} when even these do not fit.
 */
export function truncateToBudget(messages: readonly Message[], options: BudgetOptions): Message[] {
  checkOptions("options", options, ["maxTokens", "cutNewestTurn", ...estimateOptionNames]);
  const maxTokens = checkLimit("maxTokens", options.maxTokens);
  const cutNewestTurn = checkBoolean("cutNewestTurn", options.cutNewestTurn ?? false);
  if (!Array.isArray(messages))
    throw new InvalidTypeError({ field: "messages", expected: "a list of messages", received: messages });

  const costs = messages.map(estimatorOf(options));
  const tokensFrom = tailSums(costs);
  const bodyStart = indexOrEnd(messages, ({ role }) => role !== "system");
  const systemTokens = tailSums(costs.slice(0, bodyStart))[0] ?? 0;

  let best: Cut | undefined;
  for (const cut of cutsOf(messages, bodyStart, cutNewestTurn)) {
    const questionTokens = cut.question === undefined ? 0 : (costs[cut.question] ?? 0);
    const tokens = roundUp(systemTokens + questionTokens + (tokensFrom[cut.start] ?? 0));
    if (tokens <= maxTokens) best = cut;
    else if (best) break;
    else throw new ContextBudgetError(maxTokens, tokens);
  }
  return messages.filter(
    (_, index) => index < bodyStart || index === best?.question || index >= (best?.start ?? 0),
  );
}

/** What may remain, after the system message: all from `start` on, and perhaps an older `question` before it. */
interface Cut {
  readonly start: number;
  readonly question?: number;
}

/** All that may remain, the shortest first. */
function* cutsOf(messages: readonly Message[], bodyStart: number, cutNewestTurn: boolean): Generator<Cut> {
  // Results without a call are never a start: no server takes them.
  const whole = indexOrEnd(messages, ({ role }, index) => index >= bodyStart && role !== "tool");
  const newest = messages.findLastIndex(({ role }, index) => index >= whole && role === "user");
  for (let start = messages.length - 1; start >= whole; start--) {
    const role = messages[start]?.role;
    if (start > newest && newest >= 0 && cutNewestTurn && role !== "tool") yield { start, question: newest };
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

/** For each index, the sum of all from there on; for the end, 0. */
function tailSums(costs: readonly number[]): number[] {
  const sums = [0];
  for (const cost of costs.toReversed()) sums.push((sums.at(-1) ?? 0) + cost);
  return sums.toReversed();
}
