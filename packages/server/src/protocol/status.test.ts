import { describe, expect, test } from "vitest";
import { canMove, isTerminal, responseStatuses } from "./status.ts";

describe("the states of a response", () => {
  test("follow each other as the contract says, and in no other way", () => {
    const states = [undefined, ...responseStatuses];
    const moves = states.flatMap((from) =>
      responseStatuses.filter((to) => canMove(from, to)).map((to) => `${from ?? "(new)"} → ${to}`),
    );
    expect(moves).toEqual([
      "(new) → queued",
      "(new) → in_progress",
      "queued → in_progress",
      "queued → failed",
      "queued → cancelled",
      "in_progress → completed",
      "in_progress → incomplete",
      "in_progress → failed",
      "in_progress → cancelled",
      "in_progress → requires_action",
    ]);
  });

  test("are over when nothing can follow", () => {
    expect(responseStatuses.filter((status) => !isTerminal(status))).toEqual(["queued", "in_progress"]);
  });
});
