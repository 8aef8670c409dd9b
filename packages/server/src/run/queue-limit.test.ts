import { expect, test } from "vitest";
import { ApiError } from "../protocol/api-error.ts";
import { QueueLimit } from "./queue-limit.ts";

/** A queue that only counts, and how often it was asked. */
function queue(limit: number) {
  const state = { queued: 0, asked: 0 };
  const runs = new QueueLimit(
    {
      async count() {
        state.asked += 1;
        return { queued: state.queued, running: 0 };
      },
    },
    limit,
  );
  const enter = async (owner = "ann") => {
    await runs.enter(owner);
    state.queued += 1;
  };
  return { state, enter };
}

test("as many runs as allowed may wait, and one more when one has begun", async () => {
  const { state, enter } = queue(3);
  for (let index = 0; index < 3; index++) await enter();
  await expect(enter()).rejects.toMatchObject({
    status: 429,
    type: "rate_limit_error",
    code: "too_many_requests",
    retryAfterMs: 1000,
    message: expect.stringContaining("limits.waitingRunsPerOwner"),
  });
  state.queued -= 1;
  await enter();
  await expect(enter()).rejects.toBeInstanceOf(ApiError);
});

test("runs that come at once do not get past the limit together", async () => {
  const { state, enter } = queue(10);
  const results = await Promise.allSettled(Array.from({ length: 50 }, () => enter()));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  expect(state.queued).toBe(10);
});

test("the queue is counted rarely while there is room", async () => {
  const { state, enter } = queue(1000);
  for (let index = 0; index < 1000; index++) await enter();
  expect(state.asked).toBe(1);
});

test("each owner has a limit of its own", async () => {
  const waiting: Record<string, number> = { ann: 1, bob: 0 };
  const runs = new QueueLimit(
    { count: async (owner = "") => ({ queued: waiting[owner] ?? 0, running: 0 }) },
    1,
  );
  await expect(runs.enter("ann")).rejects.toBeInstanceOf(ApiError);
  await runs.enter("bob");
});
