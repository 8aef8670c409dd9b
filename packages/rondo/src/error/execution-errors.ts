// Errors of running turns and agents.

import { describe } from "./describe.ts";
import { brandErrors, RondoError } from "./rondo-error.ts";

/** An operation that is not allowed now: running a turn twice at once, waiting for a lock that is already held. */
export class SafeExecutionError extends RondoError {
  readonly code = "unsafe_execution";
}

/** `returning()` was called for a streaming tool, or `yielding()` for a tool with a single value. */
export class WrongRunMethodError extends RondoError {
  readonly code = "wrong_run_method";
  readonly toolName: string;

  constructor(toolName: string, { streaming }: { streaming: boolean }) {
    super(
      streaming
        ? `The tool '${toolName}' streams its values: run its turn with yielding(), not returning().`
        : `The tool '${toolName}' returns one value: run its turn with returning(), not yielding().`,
    );
    this.toolName = toolName;
  }
}

/** The base of all timeouts. */
export abstract class TimeoutError extends RondoError {
  /** The limit that was exceeded, in milliseconds. */
  abstract readonly timeoutMs: number;
}

/** A tool's code took longer than its turn's `timeoutMs`. */
export class TurnTimeoutError extends TimeoutError {
  readonly code = "turn_timeout";
  readonly toolName: string;
  readonly timeoutMs: number;

  constructor(toolName: string, timeoutMs: number) {
    super(
      `The tool '${toolName}' ran for more than its ${timeoutMs} ms and was aborted. ` +
        "Give the tool or the turn a larger timeoutMs, or let the tool do less at once.",
    );
    this.toolName = toolName;
    this.timeoutMs = timeoutMs;
  }
}

/** A lock was not free within the time limit of the waiting code. */
export class LockTimeoutError extends TimeoutError {
  readonly code = "lock_timeout";
  readonly timeoutMs: number;

  constructor(owner: string, timeoutMs: number) {
    super(
      `The lock of ${owner} was not free within ${timeoutMs} ms. ` +
        "Its holder is slow or stuck: give the waiting turn a larger timeoutMs, or shorten the locked work.",
    );
    this.timeoutMs = timeoutMs;
  }
}

/** A completion check returned something that is not a boolean. Extends `TypeError`. */
export class CompletionCheckReturnError extends TypeError {
  readonly code = "completion_check_return";
  readonly toolName: string;
  readonly received: unknown;

  constructor(toolName: string, received: unknown) {
    super(`The completion check '${toolName}' must return true or false, got ${describe(received)}.`);
    this.toolName = toolName;
    this.received = received;
  }
}

brandErrors({
  SafeExecutionError,
  WrongRunMethodError,
  TimeoutError,
  TurnTimeoutError,
  LockTimeoutError,
  CompletionCheckReturnError,
});
