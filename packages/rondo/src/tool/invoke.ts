// One invocation of a tool: input, hooks, lock and function, in this order. Turns call it; nothing else does.

import { hasLazy, resolveLazy } from "../async/lazy.ts";
import type { Hold, Lock } from "../async/lock.ts";
import { readAhead } from "../async/read-ahead.ts";
import { settlesWithin } from "../async/timer.ts";
import type { Watch } from "../async/watch.ts";
import { CompletionCheckReturnError } from "../error/execution-errors.ts";
import { InvalidInputError } from "../error/input-error.ts";
import { warn } from "../error/logger.ts";
import type { HookEvent, HookEvents } from "../hook/events.ts";
import { fire } from "../hook/fire.ts";
import { copyData } from "../json/copy.ts";
import { mergeFixed } from "./fixed.ts";
import type { InputResult } from "./object-schema.ts";
import type { AnyTool } from "./tool.ts";
import type { ToolContext } from "./tool-context.ts";

export interface Invocation {
  readonly tool: AnyTool;
  /** As the caller gave it: lazy values not resolved, fixed arguments not added. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Who gave it. What a model gives for a fixed argument is dropped. */
  readonly source: "code" | "model";
  readonly context: ToolContext;
  readonly watch: Watch;
  /** Aborted when the one who runs the tool gives up; not by a timeout. */
  readonly hookSignal: AbortSignal;
  /** How long to wait for the tool's lock. */
  readonly lockTimeoutMs: number;
  /** How long an aborted function may clean up before it is left behind. */
  readonly graceMs: number;
}

type AsyncFunction = (input: object, context: ToolContext) => Promise<unknown>;
type AsyncGeneratorFunction = (input: object, context: ToolContext) => AsyncGenerator<unknown, unknown, void>;

/** Runs a tool that returns one value. */
export async function invoke(invocation: Invocation): Promise<unknown> {
  const { tool } = invocation;
  const endRun = tool.metadata.startRun();
  try {
    const begun = begin(invocation);
    const result = await callFunction(invocation, begun instanceof Promise ? await begun : begun);
    const told = tell(invocation, "tool.afterInvoke", result);
    if (told) await told;
    return result;
  } finally {
    endRun();
  }
}

/** Runs a tool that streams. Yields its values as they come, adds them to `values`, and gives its result. */
export async function* invokeStream(
  invocation: Invocation,
  values: unknown[],
): AsyncGenerator<unknown, unknown, void> {
  const { tool, watch } = invocation;
  const endRun = tool.metadata.startRun();
  let isUnderWay = false;
  try {
    const input = await begin(invocation);
    const source = iterate(invocation, input, values, () => {
      isUnderWay = true;
    });
    // An idle consumer must not hold the lock, so a locked tool runs ahead of it.
    const result = yield* tool.lock ? readAhead(source) : source;
    isUnderWay = false;
    await tell(invocation, "tool.afterInvoke", result === undefined ? values : result);
    return result;
  } catch (error) {
    isUnderWay &&= watch.endedBy(error) === "cancelled";
    if (!(error instanceof FunctionFailure)) throw error;
    await tellError(invocation, error.thrown);
    throw error.thrown;
  } finally {
    try {
      // Left or cancelled: what has come so far is all there will be.
      if (isUnderWay) await tell(invocation, "tool.afterInvoke", values);
    } finally {
      endRun();
    }
  }
}

/** The input, once the hooks know it. A promise only where there is something to wait for, which is rare. */
function begin(invocation: Invocation): object | Promise<object> {
  invocation.watch.signal.throwIfAborted();
  const prepared = prepareInput(invocation);
  const announce = (input: Values) =>
    tell(invocation, "tool.beforeInvoke", input)?.then(() => input) ?? input;
  // A lazy value or an asynchronous check that hangs must not hold a turn that was aborted.
  return prepared instanceof Promise ? invocation.watch.wait(prepared).then(announce) : announce(prepared);
}

type Values = Record<string, unknown>;

/**
 * The input as the function gets it: fixed arguments added, lazy values resolved, all validated. Throws an
 * `InvalidInputError` when it does not fit the tool's schema.
 */
function prepareInput({ tool, input, source }: Invocation): Values | Promise<Values> {
  const valid = (result: InputResult) => {
    if ("issues" in result) throw new InvalidInputError(tool.name, result.issues);
    return result.value;
  };
  const parse = (values: Values) => {
    // The function owns what it gets: it may change it without changing the turn.
    const result = tool.parseInput(copyData(values));
    return result instanceof Promise ? result.then(valid) : valid(result);
  };
  const merged = mergeFixed(tool.name, tool.fixed, input, source);
  return hasLazy(merged) ? resolveLazy(merged).then(parse) : parse(merged);
}

async function callFunction(invocation: Invocation, input: object): Promise<unknown> {
  const { tool, context, watch } = invocation;
  const hold = tool.lock ? await acquireLock(tool.lock, invocation) : undefined;
  const call = () => (tool.fn as AsyncFunction)(input, context);
  let work: Promise<unknown> | undefined;
  try {
    const result = await watch.time(() => {
      work = hold ? hold.run(call) : call();
      return work;
    });
    if (tool.type === "completion_check" && typeof result !== "boolean")
      throw new CompletionCheckReturnError(tool.name, result);
    hold?.release();
    return result;
  } catch (error) {
    if (watch.endedBy(error)) {
      hold?.releaseWhen(work); // not before: the function may still be at what the lock protects
      await leaveBehind(invocation, work);
    } else {
      hold?.release();
      await tellError(invocation, error);
    }
    throw error;
  }
}

/** Wraps what a generator function has thrown, to tell it from what a hook has thrown on the way out. */
class FunctionFailure extends Error {
  readonly thrown: unknown;
  constructor(thrown: unknown) {
    super();
    this.thrown = thrown;
  }
}

async function* iterate(
  invocation: Invocation,
  input: object,
  values: unknown[],
  onStart: () => void,
): AsyncGenerator<unknown, unknown, void> {
  const { tool, context, watch } = invocation;
  const hold = tool.lock ? await acquireLock(tool.lock, invocation) : undefined;
  const inside = <R>(call: () => R): R => (hold ? hold.run(call) : call());
  let generator: AsyncGenerator<unknown, unknown, void> | undefined;
  let isOver = false;
  try {
    while (true) {
      const step = await watch
        .time(() =>
          inside(() => {
            if (!generator) onStart();
            generator ??= (tool.fn as AsyncGeneratorFunction)(input, context);
            return generator.next();
          }),
        )
        .catch((error: unknown) => {
          if (watch.endedBy(error)) throw error;
          isOver = true;
          throw new FunctionFailure(error);
        });
      if (step.done) {
        isOver = true;
        return step.value;
      }
      values.push(step.value);
      await inside(() => tell(invocation, "tool.onYield", step.value));
      yield step.value;
    }
  } finally {
    // Closing waits behind a step that is under way, so the lock is free only when the tool's code is done.
    const closing =
      isOver || !generator ? undefined : inside(() => (generator as AsyncGenerator).return(undefined));
    hold?.releaseWhen(closing);
    if (closing) await leaveBehind(invocation, closing);
  }
}

function acquireLock(lock: Lock, { watch, lockTimeoutMs }: Invocation): Promise<Hold> {
  return lock.acquire({ signal: watch.signal, timeoutMs: lockTimeoutMs });
}

/** Gives code that was told to stop a little time to do so. What it throws on the way is only worth a warning. */
async function leaveBehind(
  { tool, graceMs, watch }: Invocation,
  work: Promise<unknown> | undefined,
): Promise<void> {
  if (!work) return;
  if (!(await settlesWithin(work, graceMs))) {
    warn(
      `The tool '${tool.name}' was aborted but did not stop within ${graceMs} ms; it is left behind. Pass context.signal on to what it waits for.`,
    );
    return;
  }
  await work.catch((error: unknown) => {
    const isAbort =
      error === watch.signal.reason || (error as { name?: unknown } | null)?.name === "AbortError";
    if (!isAbort) warn(`The tool '${tool.name}' failed while it was stopping.`, error);
  });
}

/** A hook that throws replaces the tool's error; that must not get lost. */
async function tellError(invocation: Invocation, error: unknown): Promise<void> {
  try {
    await tell(invocation, "tool.onError", error);
  } catch (hookError) {
    warn(`An onError hook of the tool '${invocation.tool.name}' failed; the tool's own error was:`, error);
    throw hookError;
  }
}

function tell<E extends HookEvent>(
  { tool, context, graceMs, hookSignal }: Invocation,
  event: E,
  ...args: HookEvents[E]
): Promise<void> | undefined {
  if (tool.hookList.forEvent(event).length + tool.registry.hooks.forEvent(event).length === 0)
    return undefined;
  const { turn, agent } = context;
  const source = { hooks: [tool.hookList], registry: tool.registry, tags: tool.tags, graceMs };
  return fire(event, source, args, { tool, turn, ...(agent && { agent }), signal: hookSignal });
}
