import { describe, expect, test } from "vitest";
import { PromptWatches } from "./prompt-watches.ts";

describe("the watch of a conversation", () => {
  test("is found by what continues it, once", () => {
    const watches = new PromptWatches();
    const first = watches.continue(undefined, "a", false);
    expect(watches.continue("a", "b", false)).toBe(first);
    expect(watches.continue("a", "c", false)).not.toBe(first);
    expect(watches.continue("b", "d", false)).toBe(first);
  });

  test("is found again by a queued run, which is planned twice", () => {
    const watches = new PromptWatches();
    const queued = watches.continue(undefined, "q", true);
    expect(watches.continue(undefined, "q", true)).toBe(queued);
  });

  test("is forgotten after those of 64 others", () => {
    const watches = new PromptWatches();
    const [oldest, second] = [
      watches.continue(undefined, "a", false),
      watches.continue(undefined, "b", false),
    ];
    for (let count = 0; count < 63; count++) watches.continue(undefined, `other ${count}`, false);
    expect(watches.continue("b", "c", false)).toBe(second);
    expect(watches.continue("a", "d", false)).not.toBe(oldest);
  });
});
