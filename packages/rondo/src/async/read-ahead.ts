// Runs a generator at its own pace and buffers its values.

import { Deque } from "./deque.ts";

/**
 * Drives `source` to its end without waiting for the consumer. A locked streaming tool runs like this: a slow
 * consumer must not hold the lock.
 */
export async function* readAhead<T, R>(source: AsyncGenerator<T, R, void>): AsyncGenerator<T, R, void> {
  const values = new Deque<T>();
  let wake = () => {};
  let isDone = false;

  const pump = async (): Promise<R> => {
    try {
      while (true) {
        const step = await source.next();
        if (step.done) return step.value;
        values.push(step.value);
        wake();
      }
    } finally {
      isDone = true;
      wake();
    }
  };
  const pumping = pump();
  pumping.catch(() => {}); // awaited below, but perhaps only after other values were taken

  try {
    while (true) {
      while (values.size > 0) yield values.shift() as T;
      if (isDone) return await pumping;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    await source.return(undefined as R);
  }
}
