import { ModelConnectionError } from "rondo/errors";
import { expect, test } from "vitest";
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

test("tokens and tool calls are counted from the events of the loop", async () => {
  const { metrics, observer } = observed();
  const usage = { inputTokens: 10, outputTokens: 4, totalTokens: 14 };
  const message = { role: "assistant" as const, content: "" };
  const counts = { answers: 1, rounds: 0, callsRun: 0, fruitlessAnswers: 0 };
  const state = { version: 1, finishReason: "stop", ...counts } as const;
  observer.loopEvent({ type: "model.finished", message, finishReason: "stop", usage, state }, "resp_1");
  observer.loopEvent(
    { type: "model.finished", message, finishReason: "stop", usage: undefined, state },
    "resp_1",
  );
  const call = { id: "1", name: "add", input: {} };
  const answer = { role: "tool" as const, tool_call_id: "1", content: "" };
  observer.loopEvent(
    { type: "tool.finished", ...call, message: answer, result: 1, isError: false },
    "resp_1",
  );
  observer.loopEvent(
    { type: "tool.finished", ...call, message: answer, result: "no", isError: true },
    "resp_1",
  );
  observer.loopEvent(
    {
      type: "call.rejected",
      id: "2",
      name: "x",
      raw: "",
      reason: "unknown",
      error: "",
    },
    "resp_1",
  );
  const text = await metrics.text();
  expect(text).toContain('rondo_tokens_total{direction="input"} 10');
  expect(text).toContain('rondo_tokens_total{direction="output"} 4');
  for (const outcome of ["ok", "error", "rejected"])
    expect(text).toContain(`rondo_tool_calls_total{outcome="${outcome}"} 1`);
});

test("a failed model is a warning with its reason, and is counted", async () => {
  const { lines, metrics, observer } = observed();
  const cause = new ModelConnectionError("http://127.0.0.1:1/v1", new Error("refused"));
  observer.runEnded(failed, new ApiError("No.", { status: 503, type: "server_error", code: "c", cause }));
  expect(lines).toMatchObject([{ level: "warn", responseId: "resp_1", code: "c", reason: cause.message }]);
  expect(await metrics.text()).toContain(`rondo_model_errors_total{code="${cause.code}"} 1`);
  expect(await metrics.text()).toContain('rondo_runs_total{status="failed"} 1');
});

test("a fault of the server is logged with its stack", () => {
  const { lines, observer } = observed();
  const cause = new TypeError("x is not a function");
  observer.runEnded(failed, new ApiError("Ours.", { status: 500, type: "server_error", cause }));
  expect(lines).toMatchObject([
    { level: "error", error: expect.stringMatching(/x is not a function\n +at /) },
  ]);
});

test("a fault of the client is logged at the level info", () => {
  const { lines, logger, observer } = observed();
  observer.runEnded(failed, new ApiError("Yours.", { status: 400, type: "invalid_request_error" }));
  observer.runEnded(fakeResponse("resp_2"), undefined);
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
