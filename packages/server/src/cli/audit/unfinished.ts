// Finds what began and has no end in the log: it goes on, or its process died meanwhile.

import type { AuditLine } from "../../audit/read-log.ts";

/** More is not kept: the oldest are left out. */
const maxOpen = 100_000;

export class Unfinished {
  readonly #open = new Map<string, AuditLine>();
  /** How many were left out. */
  leftOut = 0;

  /** `isWanted` tells whether a beginning is asked for. */
  add(line: AuditLine, isWanted: (line: AuditLine) => boolean): void {
    const { boot, n, action, started } = line;
    if (action.endsWith(".ended") && started !== undefined) this.#open.delete(keyOf(boot, started));
    if (!action.endsWith(".started") || action === "server.started" || !isWanted(line)) return;
    this.#open.set(keyOf(boot, n), line);
    const [oldest] = this.#open.keys();
    if (this.#open.size <= maxOpen || oldest === undefined) return;
    this.#open.delete(oldest);
    this.leftOut += 1;
  }

  lines(): Iterable<AuditLine> {
    return this.#open.values();
  }
}

function keyOf(boot: string, n: number): string {
  return `${boot}:${n}`;
}
