// Refuses JSON that is nested so deeply that walking it would use up the stack.

import { invalidRequest } from "./api-error.ts";

/** Far more than people write; far less than `JSON.stringify` can take. */
export const maxDepth = 200;

/** Throws a 400 when a value is nested more than 200 levels deep. Needs no stack itself. */
export function checkDepth(body: unknown): void {
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth)
      throw invalidRequest(
        null,
        `The body: expected JSON that is at most ${maxDepth} levels deep, got more. Send it less nested.`,
      );
    const next: unknown[] = [];
    for (const value of level)
      if (typeof value === "object" && value !== null)
        for (const inner of Object.values(value))
          if (typeof inner === "object" && inner !== null) next.push(inner);
    level = next;
  }
}
