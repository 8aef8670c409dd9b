import { expect, test, vi } from "vitest";
import { Metrics } from "./metrics.ts";
import { testServer } from "./testkit/test-server.ts";

test("requests are counted by the pattern of their path, so that ids make no new series", async () => {
  await using server = await testServer({}, { authenticate: async () => ({ owner: "key:ann" }) });
  for (const path of ["/v1/responses/a", "/v1/responses/b", "/nowhere/1", "/nowhere/2"])
    await (await server.fetch(path)).text();
  await server.exchanges.whenIdle();
  const response = await server.fetch("/metrics");
  expect(response.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  const text = await response.text();
  expect(text).toContain('rondo_http_requests_total{route="/v1/responses/:id",method="GET",status="200"} 2');
  expect(text).toContain('rondo_http_requests_total{route="other",method="GET",status="404"} 2');
  expect(text).toContain(
    'rondo_http_request_duration_seconds_count{route="/v1/responses/:id",method="GET"} 2',
  );
  expect(text).toContain("process_cpu_seconds_total");
  expect(text).not.toContain("ann");
});

test("open streams are counted while they are open", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using server = await testServer({
    async runStreamed(_prepared, sink) {
      sink.send("a", "1");
      await promise;
    },
  });
  const stream = await server.post("/v1/responses", { stream: true });
  expect(await server.metrics.text()).toContain("rondo_open_streams 1");
  resolve();
  await stream.text();
  await vi.waitFor(async () => expect(await server.metrics.text()).toContain("rondo_open_streams 0"));
});

test("events of runs are counted", async () => {
  const metrics = new Metrics();
  metrics.runEnded("completed");
  metrics.tokensUsed({ inputTokens: 12, outputTokens: 3, totalTokens: 15, cachedTokens: 8 });
  metrics.toolCallEnded("error");
  metrics.modelFailed("timeout");
  metrics.watchQueue(async () => ({ queued: 5, running: 2 }));
  const text = await metrics.text();
  expect(text).toContain('rondo_runs_total{status="completed"} 1');
  expect(text).toContain('rondo_tokens_total{direction="input"} 12');
  expect(text).toContain('rondo_tokens_total{direction="output"} 3');
  expect(text).toContain('rondo_tokens_total{direction="cached"} 8');
  expect(text).toContain('rondo_tool_calls_total{outcome="error"} 1');
  expect(text).toContain('rondo_model_errors_total{code="timeout"} 1');
  expect(text).toContain('rondo_background_runs{state="queued"} 5');
  expect(text).toContain('rondo_background_runs{state="running"} 2');
});

test("metrics that the store cannot give are left out, and the others are there", async () => {
  const metrics = new Metrics();
  const answers = [{ queued: 5, running: 2 }];
  metrics.watchQueue(async () => answers.pop() ?? Promise.reject(new Error("The disk is gone.")));
  metrics.runEnded("completed");
  expect(await metrics.text()).toContain("rondo_background_runs{");
  const text = await metrics.text();
  expect(text).not.toContain("rondo_background_runs{");
  expect(text).toContain('rondo_runs_total{status="completed"} 1');
});

test("two servers in one process count for themselves", async () => {
  const [one, two] = [new Metrics(), new Metrics()];
  one.runEnded("failed");
  expect(await one.text()).toContain('rondo_runs_total{status="failed"} 1');
  expect(await two.text()).not.toContain('rondo_runs_total{status="failed"}');
});
