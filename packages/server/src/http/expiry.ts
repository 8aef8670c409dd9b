// Deletes responses that are older than `keepDays`, and files that expired; and tells the audit log, also about containers.

import type { Audit } from "../audit/audit-log.ts";
import type { Store } from "../store/store.ts";
import type { Logger } from "./log.ts";

const everyMs = 3_600_000;
const dayMs = 86_400_000;

/** Deletes what is too old now and every hour: responses only with `keepDays`. Returns a function that stops it. */
export function expireOld(
  store: Pick<Store, "expire" | "files">,
  keepDays: number | undefined,
  logger: Logger,
  audit?: Audit,
): () => void {
  if (keepDays === undefined && !store.files) return () => {};
  const expire = async () => {
    const started = audit?.record({ action: "expiry.started" });
    try {
      if (audit) await audit.settled();
      const count = keepDays === undefined ? 0 : await store.expire(Date.now() - keepDays * dayMs);
      if (count > 0) logger.info("Old responses were deleted.", { count, keepDays });
      // No upload takes a day.
      const files = (await store.files?.expire(Date.now() - dayMs)) ?? 0;
      if (files > 0) logger.info("Expired files were deleted.", { count: files });
      audit?.record({ action: "expiry.ended", started, outcome: "ok", count, files });
    } catch (error) {
      audit?.record({ action: "expiry.ended", started, outcome: "error" });
      logger.error("Old responses or files could not be deleted.", {}, error);
    }
  };
  void expire();
  const timer = setInterval(() => void expire(), everyMs).unref();
  return () => clearInterval(timer);
}

/** Removes a container that expired, when the audit log says so. */
export function auditedExpiry(audit: Audit) {
  return async (
    { id: target, owner }: { readonly id: string; readonly owner: string },
    remove: () => Promise<boolean>,
  ): Promise<void> => {
    const fact = { owner, target };
    const started = audit.record({ action: "expiry.started", ...fact });
    let outcome = "error";
    try {
      await audit.settled();
      outcome = (await remove()) ? "ok" : "kept";
    } finally {
      audit.record({ action: "expiry.ended", started, ...fact, outcome });
    }
  };
}
