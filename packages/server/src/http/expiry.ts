// Deletes responses that are older than `keepDays`.

import type { Store } from "../store/store.ts";
import type { Logger } from "./log.ts";

const everyMs = 3_600_000;
const dayMs = 86_400_000;

/** Deletes old responses now and every hour. Does nothing without `keepDays`. Returns a function that stops it. */
export function expireOld(
  store: Pick<Store, "expire">,
  keepDays: number | undefined,
  logger: Logger,
): () => void {
  if (keepDays === undefined) return () => {};
  const expire = async () => {
    try {
      const count = await store.expire(Date.now() - keepDays * dayMs);
      if (count > 0) logger.info("Old responses were deleted.", { count, keepDays });
    } catch (error) {
      logger.error("Old responses could not be deleted.", {}, error);
    }
  };
  void expire();
  const timer = setInterval(() => void expire(), everyMs).unref();
  return () => clearInterval(timer);
}
