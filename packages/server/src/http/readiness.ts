// Whether a process should get requests: its store and its audit log can be written to, and answer in time.

import { AuditUnavailable } from "../audit/audit-log.ts";
import { publicReason, StoreError } from "../store/store-error.ts";
import type { Logger } from "./log.ts";

export interface ReadinessOptions {
  /** Throws when the store or the audit log cannot be written. */
  readonly check: () => Promise<void>;
  readonly logger: Logger;
  /** How long a check may take. Default: 5000. */
  readonly limitMs?: number;
}

/** Why a process is not ready, for everyone; undefined if it is ready. */
type Reason = string | undefined;

export class Readiness {
  readonly #options: Required<ReadinessOptions>;
  #checking: Promise<Reason> | undefined;
  #last: Reason;

  constructor({ limitMs = 5000, ...options }: ReadinessOptions) {
    this.#options = { ...options, limitMs };
  }

  /** Requests at the same time share one check: everyone may ask, as often as they like. */
  async notReadyReason(): Promise<Reason> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<Reason> {
    const { logger } = this.#options;
    const wasReady = this.#last === undefined;
    let reason: Reason;
    try {
      await this.#checkInTime();
      // As a warning: who reads only these should see the end of it too.
      if (!wasReady) logger.warn("The server is ready again.");
    } catch (error) {
      reason = reasonOf(error);
      // Probes come every few seconds: one line tells it.
      if (wasReady) logger.error("The server is not ready.", {}, error);
    }
    this.#last = reason;
    return reason;
  }

  async #checkInTime(): Promise<void> {
    const { check, limitMs } = this.#options;
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const message = `The store did not answer within ${limitMs} ms.`;
      reject(new StoreError("unavailable", message, { fault: "slow" }));
    }, limitMs);
    try {
      await Promise.race([check(), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** For everyone: without names of files and addresses. */
function reasonOf(error: unknown): string {
  if (error instanceof AuditUnavailable)
    return "The server's audit log cannot be written, so that requests are refused: the reason is in the server's log.";
  return `The server's store is unavailable: ${publicReason(error) ?? "the reason is in the server's log"}.`;
}
