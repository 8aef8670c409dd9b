import { ModelConnectionError } from "rondo/errors";
import { expect, test } from "vitest";
import type { RunTraceEvent } from "../engine/trace-event.ts";
import { ApiError } from "../protocol/api-error.ts";
import { createLogger } from "./log.ts";
import { Metrics } from "./metrics.ts";
import { runObserver } from "./run-observer.ts";
import { fakeResponse } from "./testkit/fake-responses.ts";

function observed() {
  const lines: Record<string, unknown>[] = [];
  // Info lines are gathered, so an error is logged last to see them.
  const logger = createLogger({
    write: (text) => {
      for (const line of text.trim().split("\n")) lines.push(JSON.parse(line) as Record<string, unknown>);
    },
  });
  const metrics = new Metrics();
  return { lines, logger, metrics, observer: runObserver(logger, metrics) };
}

const failed = fakeResponse("resp_1", "failed");

test("tokens, tool calls and times are counted from what traces have", async () => {
  const { metrics, observer } = observed();
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  const record = (event: object, atMs = 0) =>
    observer.traceEvent(
      { atMs, answer: 0, turnId: "t", ...event } as unknown as RunTraceEvent,
      "resp_1",
      "ann",
    );
  const sent = { type: "request.sent", attempt: 1, url: "", bytes: 1, body: () => "" };
  const finished = { type: "model.finished", finishReason: "stop" };
  record({ type: "slot.awaited" }, 1000);
  record({ type: "slot.taken" }, 3000);
  record({ ...sent, isStream: true }, 3000);
  record({ type: "model.started" }, 3200);
  record({ type: "model.started" }, 3300);
  record({ ...finished, usage }, 5200);
  // Of a whole answer, the first token is not seen.
  record(sent, 6000);
  record({ type: "model.started" }, 6200);
  record(finished, 6300);
  for (const stopReason of ["completed", "error", "timeout"]) record({ type: "turn.finished", stopReason });
  for (const decision of ["run", "reject"])
    record({ type: "call.checked", callId: "1", name: "x", decision });
  const text = await metrics.text();
  expect(text).toContain('rondo_tokens_total{direction="input"} 10');
  expect(text).toContain('rondo_tokens_total{direction="output"} 5');
  for (const outcome of ["ok", "error", "timeout", "rejected"])
    expect(text).toContain(`rondo_tool_calls_total{outcome="${outcome}"} 1`);
  expect(text).toContain("rondo_slot_wait_seconds_sum 2");
  expect(text).toContain("rondo_first_token_seconds_sum 0.2");
  expect(text).toContain("rondo_first_token_seconds_count 1");
  expect(text).toContain("rondo_tokens_per_second_sum 2");
  expect(text).toContain("rondo_tokens_per_second_count 1");
});

test("a failed model is a warning with its reason, and is counted", async () => {
  const { lines, metrics, observer } = observed();
  const cause = new ModelConnectionError("http://127.0.0.1:1/v1", new Error("refused"));
  observer.runEnded(
    failed,
    new ApiError("No.", { status: 503, type: "server_error", code: "c", cause }),
    "ann",
  );
  expect(lines).toMatchObject([
    { level: "warn", owner: "ann", responseId: "resp_1", code: "c", reason: "No.", cause: cause.message },
  ]);
  expect(await metrics.text()).toContain(`rondo_model_errors_total{code="${cause.code}"} 1`);
  expect(await metrics.text()).toContain('rondo_runs_total{status="failed"} 1');
});

test("a fault of the server is logged with its stack", () => {
  const { lines, observer } = observed();
  const cause = new TypeError("x is not a function");
  observer.runEnded(failed, new ApiError("Ours.", { status: 500, type: "server_error", cause }), "ann");
  expect(lines).toMatchObject([
    { level: "error", error: expect.stringMatching(/x is not a function\n +at /) },
  ]);
});

test("a fault of the client is logged at the level info", () => {
  const { lines, logger, observer } = observed();
  observer.runEnded(failed, new ApiError("Yours.", { status: 400, type: "invalid_request_error" }), "ann");
  observer.runEnded(fakeResponse("resp_2"), undefined, "ann");
  logger.error("end");
  expect(lines).toMatchObject([{ level: "info", reason: "Yours." }, { message: "end" }]);
});

test("warnings of runs are logged with their fields", () => {
  const { lines, observer } = observed();
  observer.warn("Ignored.", { responseId: "resp_1", ignored: ["a", "b"], more: { c: 1 } });
  observer.warn("Not renewed.", { error: new Error("disk full") });
  expect(lines).toMatchObject([
    { level: "warn", message: "Ignored.", responseId: "resp_1", ignored: "a; b", more: '{"c":1}' },
    { level: "error", message: "Not renewed.", error: expect.stringContaining("disk full") },
  ]);
});
