// Keeps the last messages of a conversation.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import { checkBoolean, checkOptions } from "../error/check.ts";
import type { Message } from "../model/message.ts";

export interface TruncateOptions {
  /** How many of the last messages to keep. Default: 10. */
  keep?: number;
  /** Whether to keep the system message too, if it is the first. Default: true. */
  preserveSystem?: boolean;
}

/**
 * A copy of the list with its last messages, after the system message. A tool's result may lose its call, which
 * servers refuse; `truncateToBudget()` keeps them together.
 */
export function truncateMessages(messages: readonly Message[], options: TruncateOptions = {}): Message[] {
  checkOptions("options", options, ["keep", "preserveSystem"]);
  if (!Array.isArray(messages))
    throw new InvalidTypeError({ field: "messages", expected: "a list of messages", received: messages });
  const keep = checkKeep(options.keep ?? 10);
  const preserveSystem = checkBoolean("preserveSystem", options.preserveSystem ?? true);
  if (messages.length <= keep) return [...messages];
  const last = messages.slice(messages.length - keep);
  const [first] = messages;
  return preserveSystem && first?.role === "system" ? [first, ...last] : last;
}

function checkKeep(keep: unknown): number {
  const problem = { field: "keep", expected: "a whole number from 0", received: keep };
  if (typeof keep !== "number") throw new InvalidTypeError(problem);
  if (!Number.isInteger(keep) || keep < 0) throw new InvalidArgumentError(problem);
  return keep;
}
