// Runs a function: what it gives, all at once or in pieces, is what the run gives.

import type { Emit, Ending } from "./run-event.ts";
import { ValueReader } from "./value-reader.ts";

/** What a file may export: gets the input, and a signal that Ctrl-C aborts. */
export type RunFunction = (input: string | undefined, context: { signal: AbortSignal }) => unknown;

/** Gives the events of a value, or of each value of a stream. Leaves the stream when the signal is aborted. */
export async function showValues(given: unknown, emit: Emit, signal: AbortSignal): Promise<Ending> {
  const reader = new ValueReader();
  const show = (value: unknown) => {
    for (const event of reader.read(value)) emit(event);
  };
  if (!isAsyncIterable(given)) {
    show(given);
    return reader.ending;
  }

  const iterator = given[Symbol.asyncIterator]();
  let leaving: Promise<unknown> | undefined;
  const leave = () => {
    leaving = Promise.resolve(iterator.return?.()).catch(() => {});
  };
  signal.addEventListener("abort", leave);
  try {
    for (let step = await iterator.next(); ; step = await iterator.next()) {
      if (signal.aborted) break;
      show(step.value);
      if (step.done) break;
    }
  } finally {
    signal.removeEventListener("abort", leave);
    await leaving;
  }
  return reader.ending;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (Object(value) as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function";
}
