// How far a run has come: plain JSON that can be stored, and handed to a later run of the same conversation.

import { InvalidArgumentError } from "../error/argument-errors.ts";
import { isPlainObject } from "../error/check.ts";
import type { FinishReason, Usage } from "../model/provider.ts";
import type { StoredRepeats } from "./repeats.ts";

/**
 * The state of a run after an answer of the model. It counts the round of that answer as a whole, so that it stays
 * the same until the next answer; which calls of the round are done, the conversation says.
 */
export interface RunState {
  readonly version: 1;
  /** How many answers the model gave. */
  readonly answers: number;
  /** How many rounds had calls that were answered here. */
  readonly rounds: number;
  /** How many calls were run, or are run in this round. */
  readonly callsRun: number;
  /** Answers in a row without a call that could run. */
  readonly fruitlessAnswers: number;
  /** The limit that this round reached. */
  readonly limit?: "max_turns" | "max_tool_calls";
  /** The calls of this round that the limit keeps from running, by their ids. */
  readonly overLimit?: readonly string[];
  /** Whether the run ends with this round: a call was rejected with `endsRun`, and none ran. */
  readonly endsRun?: true;
  /** Whether the last answer is the final one, which was asked for without calls. */
  readonly isFinalAnswer?: true;
  /** Whether it was asked for a second time, without tools, because it had only calls. */
  readonly isLastTry?: true;
  /** The tool whose call did not fit its schema, and that the model must call now, held to it. */
  readonly retryTool?: string;
  /** Whether the last answer was such a second try. */
  readonly isRetry?: true;
  /** How the last answer ended. */
  readonly finishReason: FinishReason;
  readonly usage?: Usage;
  /** The calls of the last answer that repeat earlier ones. */
  readonly repeats?: StoredRepeats;
}

export const initialState: RunState = {
  version: 1,
  answers: 0,
  rounds: 0,
  callsRun: 0,
  fruitlessAnswers: 0,
  finishReason: "unknown",
};

/** Throws for anything that is not the state of a run. */
export function checkRunState(value: unknown): RunState {
  const isState =
    isPlainObject(value) &&
    value["version"] === 1 &&
    (["answers", "rounds", "callsRun", "fruitlessAnswers"] as const).every(
      (field) => Number.isSafeInteger(value[field]) && (value[field] as number) >= 0,
    );
  if (isState) return value as unknown as RunState;
  throw new InvalidArgumentError({
    field: "state",
    expected: "the state of an earlier run, version 1",
    received: value,
  });
}
