// The traces of runs: what is kept of them, when it is written, and who may see it.

import { openaiCompatible, tool } from "rondo";
import { scriptedModel, startModelServer } from "rondo/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import type { RunTracer } from "../engine/run-tracer.ts";
import type { RunTraceEvent } from "../engine/trace-event.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import type { Responses } from "./responses.ts";
import { RunTraces } from "./run-traces.ts";
import { runWithCrashes } from "./testkit/crash.ts";
import { call, started } from "./testkit/mcp.ts";
import { background, collector, never, plain, startService, stream } from "./testkit/service.ts";

const everything = { after: -1, include: ["requests", "chunks", "content"] } as const;

async function traceOf(service: Responses, id: string, query: object = {}) {
  return service.trace("ada", id, { after: -1, include: [], ...query });
}

const typesOf = ({ events }: { events: readonly { type: string }[] }) => events.map(({ type }) => type);

/** Without what depends on the store's speed. */
const typesIn = (trace: { events: readonly { type: string }[] }) =>
  typesOf(trace).filter((type) => type !== "store.committed");

const add = tool("add", "Add.", { a: Number, b: Number }, ({ a, b }) => a + b);
const answers = [{ calls: [{ name: "add", input: { a: 1, b: 2 } }] }, "3."];

test("a plain request leaves its trace with the commit that ends it", async () => {
  for (const [traces, count] of [
    ["off", 0],
    ["timings", 1],
  ] as const) {
    const commits: object[] = [];
    const store = storeAround(memoryStore(), async (method, run, [, write]) => {
      if (method === "commit") commits.push(write as object);
      return run();
    });
    const service = await startService({ model: scriptedModel(["Hello."]), store, traces });
    const { id } = await plain(service, { input: "Hi." });
    expect(commits).toHaveLength(1);
    expect(commits.filter((write) => "trace" in write)).toHaveLength(count);
    const trace = await traceOf(service, id);
    expect(trace).toMatchObject({ object: "response.trace", response_id: id, level: traces, is_over: true });
    expect(typesOf(trace)).toEqual(
      count === 0
        ? []
        : [
            "run.claimed",
            "store.committed",
            "run.started",
            "model.asked",
            "model.started",
            "model.finished",
            "run.finished",
          ],
    );
    const times = trace.events.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(trace.events.map(({ n }) => n)).toEqual([...times.keys()]);
    expect(trace.next).toBe(times.length);
  }
});

test("a background run is traced from the queue on, and followed by numbers", async () => {
  const service = await startService({ model: scriptedModel(answers), tools: [add] });
  onTestFinished(() => service.drain(0));
  const { response } = await background(service, { input: "1 + 2?" });
  const trace = await traceOf(service, response.id);
  expect(typesIn(trace)).toEqual([
    "run.queued",
    "run.claimed",
    "run.started",
    "model.asked",
    "model.started",
    "model.finished",
    "call.checked",
    "turn.started",
    "turn.finished",
    "model.asked",
    "model.started",
    "model.finished",
    "run.finished",
  ]);
  expect(typesOf(trace)).toContain("store.committed");
  const [queued, claimed] = trace.events;
  expect(queued).toEqual({ n: 0, at: 0, type: "run.queued" });
  expect(claimed).toMatchObject({
    attempt: 1,
    level: "timings",
    worker: expect.stringMatching(/^[\da-f-]{36}$/),
  });
  expect(trace.events.find(({ type }) => type === "turn.started")).toMatchObject({
    turn_id: expect.stringContaining(response.id),
    call_id: "call_1",
    name: "add",
  });
  expect(await traceOf(service, response.id, { after: trace.next - 2 })).toMatchObject({
    next: trace.next,
    events: [{ n: trace.next - 1, type: "run.finished" }],
  });
  expect(await traceOf(service, response.id, { after: 1e9 })).toMatchObject({ next: 1e9 + 1, events: [] });
});

test("a run is seen while it waits and works, before anything is written", async () => {
  const gate = Promise.withResolvers<void>();
  const busy = Promise.withResolvers<void>();
  const wait = tool("wait", "Wait.", {}, async () => {
    busy.resolve();
    await gate.promise;
  });
  const model = scriptedModel([{ calls: [{ name: "wait" }] }, "Done.", "Second."]);
  const runs = { concurrency: 1, leaseMs: 30_000, maxAttempts: 3 };
  const service = await startService({ model, tools: [wait], runs });
  onTestFinished(() => service.drain(0));
  const first = background(service, { input: "Go." });
  await busy.promise;
  const { id } = await service.enqueue(
    await service.prepare("ada", { model: "test", input: "Later.", background: true }),
  );
  expect(await traceOf(service, id)).toMatchObject({
    is_over: false,
    next: 1,
    events: [{ n: 0, at: 0, type: "run.queued" }],
  });
  const { data } = await service.listRuns("ada", { limit: 10, order: "asc", roots: false, include: [] });
  const working = await traceOf(service, data[0]?.id ?? "");
  expect(working.is_over).toBe(false);
  expect(typesOf(working).at(-1)).toBe("turn.started");
  gate.resolve();
  await first;
});

test("what was not recorded is not made up, and a cut trace says so to followers too", async () => {
  const store = memoryStore();
  const without = await startService({ model: scriptedModel(["Hello."]), store, traces: "off" });
  const { response } = await background(without, { input: "Hi." });
  await without.drain(0);
  const service = await startService({ model: scriptedModel([]), store });
  onTestFinished(() => service.drain(0));
  expect(await traceOf(service, response.id)).toMatchObject({
    level: "off",
    is_over: true,
    next: 0,
    events: [],
  });

  const lines = '{"at":1,"type":"run.started"}\n{"at":2,"type":"trace.cut"}';
  const around = storeAround(memoryStore(), async (method, run, [, , after]) =>
    method === "trace" ? [{ first: 0, last: 1, lines }].filter(({ last }) => last > Number(after)) : run(),
  );
  const other = await startService({ model: scriptedModel(["Hello."]), store: around });
  const { id } = await plain(other, { input: "Hi." });
  expect(await traceOf(other, id)).toMatchObject({ is_cut: true, next: 2 });
  expect(await traceOf(other, id, { after: 1 })).toMatchObject({ is_cut: true, next: 2, events: [] });
});

test("a full trace has what was sent and said, on demand only", async () => {
  await using server = await startModelServer([...answers] as never);
  const model = openaiCompatible({
    baseURL: server.url,
    model: "test",
    server: "vllm",
    apiKey: "s3cret-key",
  });
  const service = await startService({ model, tools: [add], traces: "full" });
  const { id } = (await stream(service, { input: "1 + 2 = ?" })).response;
  const full = await traceOf(service, id, everything);
  expect(full.level).toBe("full");
  const sent = full.events.find(({ type }) => type === "request.sent");
  expect(JSON.parse(sent?.["body"] as string)).toMatchObject({ messages: [{ content: "1 + 2 = ?" }] });
  expect(sent?.["bytes"]).toBe(Buffer.byteLength(sent?.["body"] as string));
  const chunks = full.events.flatMap((event) => (event.type === "model.chunk" ? [event["text"]] : []));
  expect(chunks.join("")).toMatch(/^data: [\s\S]*3\.[\s\S]*\[DONE\]/);
  expect(full.events.find(({ type }) => type === "turn.started")?.["input"]).toEqual({ a: 1, b: 2 });
  expect(full.events.find(({ type }) => type === "turn.finished")?.["output"]).toBe(3);
  expect(JSON.stringify(full)).not.toContain("s3cret-key");
  const short = await traceOf(service, id);
  expect(JSON.stringify(short)).not.toContain("1 + 2");
  expect(JSON.stringify(short)).not.toMatch(/"(?:body|text|input|output)":/);
  expect(typesOf(short)).not.toContain("model.chunk");
});

test("a full trace of a long answer is written in parts, so that a run holds little of it", async () => {
  const text = Array.from({ length: 400 }, () => "word ".repeat(1_000));
  await using server = await startModelServer([{ text }]);
  const pieces: number[] = [];
  const store = storeAround(memoryStore(), async (method, run, [, write]) => {
    const { trace } = Object(write) as { trace?: { lines: string } };
    if (method === "commit" && trace) pieces.push(trace.lines.length);
    return run();
  });
  const model = openaiCompatible({ baseURL: server.url, model: "test", server: "vllm" });
  const service = await startService({ model, store, traces: "full" });
  const { response } = await stream(service, { input: "Hi." });
  expect(response.status).toBe("completed");
  expect(pieces.length).toBeGreaterThan(4);
  expect(Math.max(...pieces)).toBeLessThan(600_000);
  const { events } = await traceOf(service, response.id, everything);
  expect(events.map(({ n }) => n)).toEqual([...events.keys()]);
  const chunks = events.flatMap((event) => (event.type === "model.chunk" ? [event["text"]] : []));
  expect(chunks.join("").length).toBeGreaterThan(2_000_000);
});

test("a run that goes on after a crash has both processes in its trace", async () => {
  const script = [{ calls: [{ id: "1", name: "look", input: { n: 2 } }] }, { text: ["Done."] }];
  for (const at of [1, 2, 3]) {
    const { service, response, cuts } = await runWithCrashes({ script }, [{ at, isKept: true }]);
    expect(cuts).toBe(1);
    const trace = await traceOf(service, response.id);
    const claims = trace.events.filter(({ type }) => type === "run.claimed");
    expect(new Set(claims.map(({ worker }) => worker)).size).toBe(2);
    expect(typesOf(trace).filter((type) => type === "run.queued")).toHaveLength(1);
    expect(trace.events.map(({ n }) => n)).toEqual([...trace.events.keys()]);
    const asked = trace.events.flatMap(({ type, answer }) => (type === "model.asked" ? [answer] : []));
    expect(asked).toEqual([...asked.keys()]);
    expect(typesOf(trace).at(-1)).toBe("run.finished");
    await service.drain(0);
  }
});

test("a foreground run that another process ends after a crash was never queued", async () => {
  const clock = { nowMs: 0 };
  const store = memoryStore({ now: () => clock.nowMs });
  const model = scriptedModel([{ text: ["Half", new Promise<never>(() => {})] }]);
  const dying = await startService({ model, store });
  const body = { model: "test", input: "Go", stream: true };
  const repeatKey = { key: "k", fingerprint: "f" };
  const prepared = await dying.prepare("ada", body, { repeatKey });
  const heard = collector();
  void dying.runStreamed(prepared, heard, never);
  await vi.waitFor(() =>
    expect(heard.events.map(({ type }) => type)).toContain("response.output_text.delta"),
  );
  clock.nowMs += 1_000_000; // its lease is over
  const service = await startService({ model: scriptedModel([]), store });
  onTestFinished(() => service.drain(0));
  const { id } = prepared;
  await service.follow("ada", id, -1, collector(), never);
  const types = typesOf(await traceOf(service, id));
  expect(types).toContain("run.claimed");
  expect(types).not.toContain("run.queued");
});

test("approvals are in the traces of the response that asks, and of the one that decides", async () => {
  const { service, server } = await started({ script: [{ calls: [call("pay", 7)] }, "No."] });
  const first = await plain(service, { input: "Go", tools: [server] });
  const asked = (await traceOf(service, first.id)).events.find(({ type }) => type === "approval.asked");
  const { id } = first.output.at(-1) ?? {};
  expect(asked).toMatchObject({ call_id: id, name: "pay" });
  const decision = { type: "mcp_approval_response", approval_request_id: id, approve: false };
  const next = await plain(service, { input: [decision], tools: [server], previous_response_id: first.id });
  expect((await traceOf(service, next.id)).events).toContainEqual(
    expect.objectContaining({ type: "approval.decided", call_id: id, approved: false }),
  );
});

test("a model server that goes and comes back is in the trace, with answers of their own", async () => {
  const runs = { concurrency: 1, leaseMs: 30_000, maxAttempts: 3, modelWaitMs: 60_000 };
  let isUp = false;
  await using server = await startModelServer(["Hello."]);
  const model = openaiCompatible({
    baseURL: server.url,
    model: "m",
    server: "vllm",
    retry: false,
    fetch: async (url, init) => {
      if (isUp) return fetch(url, init);
      throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    },
  });
  const warnings: string[] = [];
  const service = await startService({ model, runs, warnings });
  onTestFinished(() => service.drain(0));
  const ended = background(service, { input: "Hi." });
  await vi.waitFor(() => expect(warnings.join()).toContain("waits for its model server"));
  isUp = true;
  const trace = await traceOf(service, (await ended).response.id);
  const types = typesIn(trace);
  expect(types.slice(2, 7)).toEqual([
    "run.started",
    "model.asked",
    "request.sent",
    "model.failed",
    "run.failed",
  ]);
  expect(types.slice(7, 9)).toEqual(["model.away", "run.started"]);
  expect(types.slice(-2)).toEqual(["model.back", "run.finished"]);
  expect(trace.events.find(({ type }) => type === "model.away")).toMatchObject({
    error: { message: expect.stringContaining("refused") },
  });
  expect(trace.events.findLast(({ type }) => type === "model.asked")?.["answer"]).toBeGreaterThan(0);
});

test("observers hear of runs whose traces are not kept", async () => {
  const heard: [string, string, string][] = [];
  const observer = {
    warn: () => {},
    loopEvent: () => {},
    runEnded: () => {},
    traceEvent: (event: RunTraceEvent, id: string, owner: string) => heard.push([event.type, id, owner]),
  };
  const service = await startService({ model: scriptedModel(["One.", "Two."]), traces: "off", observer });
  const { id } = await plain(service, { input: "Hi." });
  const unstored = await plain(service, { input: "Hi.", store: false });
  for (const each of [id, unstored.id]) {
    const types = heard.filter(([, of]) => of === each).map(([type]) => type);
    expect(types).toContain("model.finished");
    expect(types.at(0)).toBe("run.claimed");
  }
  expect(heard.every(([, , owner]) => owner === "ada")).toBe(true);
  expect(await traceOf(service, id)).toMatchObject({ level: "off", events: [], next: 0 });
});

test("a trace is its owner's, and goes with its response", async () => {
  const service = await startService({ model: scriptedModel(["Hello."]) });
  const { id } = await plain(service, { input: "Hi." });
  await expect(service.trace("bob", id, { after: -1, include: [] })).rejects.toMatchObject({ status: 404 });
  await service.remove("ada", id);
  await expect(traceOf(service, id)).rejects.toMatchObject({ status: 404 });
});

test("a run that is deleted while it works leaves nothing", async () => {
  const busy = Promise.withResolvers<void>();
  const wait = tool("wait", "Wait.", {}, async (_input, { signal }) => {
    busy.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  const service = await startService({
    model: scriptedModel([{ calls: [{ name: "wait" }] }]),
    tools: [wait],
  });
  const prepared = await service.prepare("ada", { model: "test", input: "Go." });
  const ended = service.runPlain(prepared, never).catch((error: unknown) => error);
  await busy.promise;
  expect((await traceOf(service, prepared.id)).is_over).toBe(false);
  await service.remove("ada", prepared.id);
  expect(await ended).toMatchObject({ code: "response_deleted" });
  await expect(traceOf(service, prepared.id)).rejects.toMatchObject({ status: 404 });
});

test("the runs of a process end in any order", () => {
  const traces = new RunTraces({ level: "timings", observer: { traceEvent: () => {} }, worker: "w" });
  const run = { owner: "ada", createdAtMs: 0, isStored: true, attempt: 1 };
  const tracers = ["a", "b", "c"].map((id) => traces.begin({ ...run, id }));
  const working = () => ["a", "b", "c"].filter((id) => traces.unwritten(id).length > 0);
  expect(working()).toEqual(["a", "b", "c"]);
  for (const [index, left] of [
    [0, ["b", "c"]],
    [0, ["b", "c"]],
    [2, ["b"]],
    [1, []],
  ] as const) {
    traces.end(tracers[index] as RunTracer);
    expect(working()).toEqual(left);
  }
});
