// One invocation of a tool: input, hooks, lock and function, in this order. Only turns call it.

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
import type { RunTrace } from "../trace/run-trace.ts";
import { mergeFixed } from "./fixed.ts";
import type { InputResult } from "./input-schema.ts";
import type { AnyTool } from "./tool.ts";
import type { ToolContext } from "./tool-context.ts";

export interface Invocation {
  readonly tool: AnyTool;
  /** As the caller gave it: lazy values not resolved, fixed arguments not added. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Where it comes from. A model's value for a fixed argument is dropped. */
  readonly source: "code" | "model";
  readonly context: ToolContext;
  readonly watch: Watch;
  /** Aborted when the caller gives up; not by a timeout. */
  readonly hookSignal: AbortSignal;
  /** How long to wait for the tool's lock. */
  readonly lockTimeoutMs: number;
  /** How long an aborted function may clean up before it is abandoned. */
  readonly graceMs: number;
  /** Receives the error that the tool's own function threw, before its hooks. */
  readonly onThrow: (error: unknown) => void;
  /** Default: nobody listens. */
  readonly trace?: RunTrace | undefined;
}

type AsyncFunction = (input: object, context: ToolContext) => Promise<unknown>;
type AsyncGeneratorFunction = (input: object, context: ToolContext) => AsyncGenerator<unknown, unknown, void>;

/** Streaming tools whose values are not progress: traces tell what they do in more detail. */
export const tellsItself = new WeakSet<AnyTool>();

/** Runs a tool that returns one value. */
export async function invoke(invocation: Invocation): Promise<unknown> {
  const { tool } = invocation;
  const endRun = tool.metadata.startRun();
  try {
    const begun = begin(invocation);
    const result = await callFunction(invocation, begun instanceof Promise ? await begun : begun);
    const fired = fireHooks(invocation, "tool.afterInvoke", result);
    if (fired) await fired;
    return result;
  } finally {
    endRun();
  }
}

/** Runs a streaming tool. Yields its values, adds them to `values`, and returns its result. */
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
    await fireHooks(invocation, "tool.afterInvoke", result === undefined ? values : result);
    return result;
  } catch (error) {
    isUnderWay &&= watch.endedBy(error) === "cancelled";
    if (!(error instanceof FunctionFailure)) throw error;
    invocation.onThrow(error.thrown);
    await fireError(invocation, error.thrown);
    throw error.thrown;
  } finally {
    try {
      // Left or cancelled: there will be no more values.
      if (isUnderWay) await fireHooks(invocation, "tool.afterInvoke", values);
    } finally {
      endRun();
    }
  }
}

/** Prepares the input and runs the hooks before the call. A promise only if there is something to wait for. */
function begin(invocation: Invocation): object | Promise<object> {
  invocation.watch.throwIfStopped();
  const prepared = prepareInput(invocation);
  const announce = (input: Values) =>
    fireHooks(invocation, "tool.beforeInvoke", input)?.then(() => input) ?? input;
  // A lazy value or an asynchronous check that hangs must not block an aborted turn.
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
    // The function owns its input: it may change it without changing the turn.
    const result = tool.parseInput(copyData(values));
    return result instanceof Promise ? result.then(valid) : valid(result);
  };
  const merged = mergeFixed(tool.name, tool.fixed, input, source);
  return hasLazy(merged) ? resolveLazy(merged).then(parse) : parse(merged);
}

async function callFunction(invocation: Invocation, input: object): Promise<unknown> {
  const { tool, context, watch } = invocation;
  const hold = tool.lock ? await acquireLock(tool.lock, invocation) : undefined;
  const call = traced(invocation, () => (tool.fn as AsyncFunction)(input, context));
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
      hold?.releaseWhen(work); // not before: the function may still use what the lock protects
      await abandon(invocation, work);
    } else {
      hold?.release();
      // Another attempt cannot correct the type of a check.
      if (!(error instanceof CompletionCheckReturnError)) invocation.onThrow(error);
      await fireError(invocation, error);
    }
    throw error;
  }
}

/** Wraps an error of the generator function, to distinguish it from an error of a hook. */
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
  const { trace } = invocation;
  const inside = <R>(call: () => R): R => (hold ? hold.run(call) : call());
  let generator: AsyncGenerator<unknown, unknown, void> | undefined;
  const next = traced(invocation, () => {
    if (!generator) onStart();
    generator ??= (tool.fn as AsyncGeneratorFunction)(input, context);
    return generator.next();
  });
  let isOver = false;
  try {
    while (true) {
      const step = await watch
        .time(() => inside(next))
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
      if (trace && !tellsItself.has(tool))
        trace.emit({ type: "turn.progress", turnId: context.turn.uuid, count: values.length });
      await inside(() => fireHooks(invocation, "tool.onYield", step.value));
      yield step.value;
    }
  } finally {
    // Closing waits for a pending step, so the lock is released only when the tool's code is done.
    const closing =
      isOver || !generator ? undefined : inside(() => (generator as AsyncGenerator).return(undefined));
    hold?.releaseWhen(closing);
    if (closing) await abandon(invocation, closing);
  }
}

function acquireLock(lock: Lock, { watch, lockTimeoutMs, trace, context }: Invocation): Promise<Hold> {
  const isAwaited = trace !== undefined && lock.isHeld;
  if (isAwaited) trace.emit({ type: "lock.awaited", turnId: context.turn.uuid });
  const acquired = lock.acquire({ signal: watch.signal, timeoutMs: lockTimeoutMs });
  if (!isAwaited) return acquired;
  return acquired.then((hold) => {
    trace.emit({ type: "lock.taken", turnId: context.turn.uuid });
    return hold;
  });
}

/** A part of the tool's function, as a part of its turn. */
function traced<T>({ trace, context }: Invocation, part: () => T): () => T {
  return trace ? () => trace.within(context.turn.uuid, part) : part;
}

/** Gives aborted code some time to stop. An error meanwhile is only a warning. */
async function abandon(
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

/** The error of a hook replaces the tool's error, which is therefore logged. */
async function fireError(invocation: Invocation, error: unknown): Promise<void> {
  try {
    await fireHooks(invocation, "tool.onError", error);
  } catch (hookError) {
    warn(`An onError hook of the tool '${invocation.tool.name}' failed; the tool's own error was:`, error);
    throw hookError;
  }
}

function fireHooks<E extends HookEvent>(
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
