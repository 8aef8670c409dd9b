// The errors of a client.

import { brandError, RondoError } from "../error/rondo-error.ts";

/** A query after the last allowed turn. */
export class MaxTurnsError extends RondoError {
  static {
    brandError(MaxTurnsError, "MaxTurnsError");
  }
  readonly code = "turns_used_up";
  readonly maxTurns: number;

  constructor(maxTurns: number) {
    super(
      `This client has used up its turns (maxTurns: ${maxTurns}). Make a new client, or give this one more.`,
    );
    this.maxTurns = maxTurns;
  }
}

/** A query while calls of the model have no result yet. */
export class UnansweredToolCallsError extends RondoError {
  static {
    brandError(UnansweredToolCallsError, "UnansweredToolCallsError");
  }
  readonly code = "unanswered_tool_calls";
  readonly ids: readonly string[];

  constructor(ids: readonly string[]) {
    super(
      `These tool calls have no result yet: ${ids.join(", ")}. Give each one its result with addToolResult() first.`,
    );
    this.ids = ids;
  }
}

/** A result for a call that does not exist, or is already answered. */
export class UnknownToolCallError extends RondoError {
  static {
    brandError(UnknownToolCallError, "UnknownToolCallError");
  }
  readonly code = "unknown_tool_call";
  readonly id: string;

  constructor(id: string, open: readonly string[]) {
    const choice = open.length === 0 ? "No call is open." : `Open calls: ${open.join(", ")}.`;
    super(`There is no open tool call '${id}'. ${choice}`);
    this.id = id;
  }
}

/** A `user_prompt_submit` hook blocked the prompt. Nothing was sent. */
export class PromptBlockedError extends RondoError {
  static {
    brandError(PromptBlockedError, "PromptBlockedError");
  }
  readonly code = "prompt_blocked";
  readonly reason: string;

  constructor(reason: string) {
    super(`Prompt blocked: ${reason}`);
    this.reason = reason;
  }
}

/** The model's answer does not fit the output schema, nor does its second try. */
export class InvalidOutputError extends RondoError {
  static {
    brandError(InvalidOutputError, "InvalidOutputError");
  }
  readonly code = "invalid_output";
  /** The answer. */
  readonly text: string;

  constructor(
    problem: string,
    text: string,
    message = `The model's answer does not fit the output schema: ${problem} Use a simpler schema or another model.`,
  ) {
    super(message);
    this.text = text;
  }

  /** A run that ended before there was an answer. */
  static missing(stopReason: string, text: string): InvalidOutputError {
    const message = `The run ended with '${stopReason}', before there was an output. Iterate the query to read how far it came.`;
    return new InvalidOutputError("", text, message);
  }
}
