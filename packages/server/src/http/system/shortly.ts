// Waits for something that may fail or hang, and must not make the console hang.

/** What comes of it within the time; undefined if it fails or takes longer. */
export async function shortly<T>(work: Promise<T>, limitMs = 500): Promise<T | undefined> {
  const { promise: isSlow, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), limitMs);
  try {
    return await Promise.race([work.catch(() => undefined), isSlow]);
  } finally {
    clearTimeout(timer);
  }
}
