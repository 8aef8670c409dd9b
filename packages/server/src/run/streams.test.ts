// Whatever a model does, the stream follows the contract, and tells the same as the other ways to ask.

import fc from "fast-check";
import { type AnyTool, tool } from "rondo";
import { ModelConnectionError } from "rondo/errors";
import { type ScriptedAnswer, scriptedModel } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { streamFlaws } from "../conformance/testkit/stream-checker.ts";
import { isCarrier } from "../engine/server-calls.ts";
import type { ApiError } from "../protocol/api-error.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { StoreError } from "../store/store-error.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import {
  background,
  collector,
  lastResponse,
  never,
  startService,
  stream,
  toFrames,
} from "./testkit/service.ts";
import { add, broken, weather } from "./testkit/tools.ts";

const piece = fc.string({ maxLength: 4, unit: "grapheme" });
const made = fc.oneof(
  fc.constantFrom(
    { name: "add", input: { a: 1, b: 2 } },
    { name: "add", input: { a: "x" } },
    { name: "add", arguments: '{"a": 1,' },
    { name: "broken" },
    { name: "ticking", input: { n: 3 } },
    { name: "weather", input: { city: "Rome" } },
    { name: "weather", arguments: "no json" },
    { name: "nobody", input: {} },
  ),
  fc.record({ name: fc.constantFrom("add", "weather", ""), arguments: fc.json(), isTruncated: fc.boolean() }),
);
const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 };
const answer: fc.Arbitrary<ScriptedAnswer> = fc.record(
  {
    thinking: fc.array(piece, { maxLength: 3 }),
    text: fc.array(piece, { maxLength: 3 }),
    calls: fc.array(made, { maxLength: 3 }),
    chunks: fc.array(
      fc.record({ type: fc.constantFrom("thinking.delta" as const, "text.delta" as const), text: piece }),
      { maxLength: 3 },
    ),
    finishReason: fc.constantFrom("stop", "length", "content_filter", "tool_calls"),
    usage: fc.constant(usage),
    error: fc.constant(new ModelConnectionError("http://127.0.0.1:1", "refused")),
  },
  { requiredKeys: ["text"] },
);
const script = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 4 }),
  body: fc.record(
    {
      tools: fc.constant([weather]),
      tool_choice: fc.constantFrom("auto", "none", "required", { type: "function", name: "add" }),
      parallel_tool_calls: fc.boolean(),
      max_tool_calls: fc.nat(3),
      max_agentic_turns: fc.integer({ min: 1, max: 4 }),
      include: fc.constant(["reasoning.encrypted_content"]),
      store: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  asksForFinalAnswer: fc.boolean(),
});

const ticking: AnyTool = tool("ticking", "Ticks.", { n: Number }, async function* ({ n }) {
  for (let at = 0; at < n; at += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    yield at;
  }
});

function start(answers: readonly ScriptedAnswer[], asksForFinalAnswer: boolean) {
  let asked = 0;
  const model = scriptedModel(() => answers[asked++] ?? "Enough.");
  return startService({ model, tools: [add, broken, ticking], asksForFinalAnswer });
}

test("every stream follows the contract, and says what the plain response and the background run say", async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ answers, body, asksForFinalAnswer }) => {
      const streamed = await stream(await start(answers, asksForFinalAnswer), { input: "Go", ...body });
      expect(streamFlaws(toFrames(streamed.events))).toEqual([]);

      const followed = await background(await start(answers, asksForFinalAnswer), {
        input: "Go",
        ...body,
        store: true,
      });
      expect(streamFlaws(toFrames(followed.events))).toEqual([]);
      // Calls of the server are sealed into the output only where nothing is stored.
      const isSealed = streamed.response.output.some(isCarrier);
      const said = ({ response, events }: typeof streamed) =>
        isSealed ? undefined : { response: plainly(response), types: events.map(({ type }) => type) };
      expect(said(followed)).toEqual(said(streamed));

      const service = await start(answers, asksForFinalAnswer);
      const prepared = await service.prepare("ada", { model: "test", input: "Go", ...body });
      const answered = await service.runPlain(prepared, never).catch((error: ApiError) => error);
      const expected = plainly(streamed.response);
      const told =
        answered instanceof Error ? { ...expected, error: { message: answered.message } } : plainly(answered);
      expect(told).toMatchObject({
        ...expected,
        error: expected.error && { message: expected.error.message },
      });
      const kept = body.store === false ? expected : plainly(await service.get("ada", prepared.id));
      expect(kept).toEqual(expected);
    }),
    { numRuns: 80 },
  );
}, 60_000);

test("every stream follows the contract, at whichever event its client goes away", async () => {
  await fc.assert(
    fc.asyncProperty(script, fc.nat(40), async ({ answers, body, asksForFinalAnswer }, at) => {
      const service = await start(answers, asksForFinalAnswer);
      const leaving = new AbortController();
      const { events, send, drained } = collector();
      const sink = {
        drained,
        send: (type: string, json: string) => {
          send(type, json);
          if (events.length === at) leaving.abort(new Error("gone"));
        },
      };
      if (at === 0) leaving.abort(new Error("gone"));
      const prepared = await service.prepare("ada", { model: "test", input: "Go", ...body });
      await service.runStreamed(prepared, sink, leaving.signal);
      expect(streamFlaws(toFrames(events))).toEqual([]);
      const last = lastResponse(events);
      expect(body.store === false ? last : await service.get("ada", prepared.id)).toEqual(last);
    }),
    { numRuns: 80 },
  );
}, 60_000);

/** A response without what is different each time. */
function plainly({
  id: _id,
  created_at: _at,
  completed_at: _end,
  background: _b,
  store: _s,
  ...rest
}: ResponseObject) {
  const output = rest.output.map(({ id: _item, ...item }) => {
    if (item.type === "function_call") return { ...item, call_id: "" };
    return item.type === "reasoning" && item.encrypted_content ? { ...item, encrypted_content: "" } : item;
  });
  return { ...rest, output };
}

describe("a store that fails in the middle", () => {
  test.each([1, 2, 3, 4])("at commit %i ends the stream with an error, without a gap", async (at) => {
    let commits = 0;
    const store = storeAround(memoryStore(), async (method, call) => {
      if (method === "commit" && ++commits >= at) throw new StoreError("unavailable", "The disk is full.");
      return call();
    });
    const model = scriptedModel(({ messages }) =>
      messages.length > 1
        ? { thinking: "So", text: ["Do", "ne."] }
        : { thinking: "Hm", text: "A moment", calls: [{ name: "add", input: { a: 1, b: 2 } }] },
    );
    const service = await startService({ model, store, tools: [add] });
    const { events, response } = await stream(service, { input: "Go" });
    // What was announced and could not be kept stays open; nothing else is wrong.
    const flaws = streamFlaws(toFrames(events)).filter(
      (flaw) => !flaw.includes("was added, but never done") && !flaw.includes("output is not the items"),
    );
    expect(flaws).toEqual([]);
    expect(response).toMatchObject({
      status: "failed",
      error: { code: "store_unavailable", message: expect.stringContaining("The disk is full.") },
    });
    const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
    expect(response.output).toEqual(done);
    expect(await store.output("ada", response.id)).toHaveLength(done.length);
  });

  test("is an error of a plain request", async () => {
    const store = storeAround(memoryStore(), async (method, call) => {
      if (method === "commit") throw new StoreError("unavailable", "The disk is full.");
      return call();
    });
    const service = await startService({ model: scriptedModel(["Hi"]), store });
    const prepared = await service.prepare("ada", { model: "test", input: "Go" });
    await expect(service.runPlain(prepared, never)).rejects.toMatchObject({
      status: 503,
      code: "store_unavailable",
    });
  });
});

test("a reader that cannot keep up stops the model", async () => {
  const { promise: drained, resolve } = Promise.withResolvers<void>();
  let given = 0;
  async function* deltas() {
    for (; given < 1000; given += 1) yield { type: "text.delta", text: "x" } as const;
    yield { type: "finished", finishReason: "stop", usage: undefined } as const;
  }
  const { name, endpoint, profile } = scriptedModel([]);
  const service = await startService({ model: { name, endpoint, profile, stream: deltas } });
  const { events, send } = collector();
  const sink = {
    send,
    get drained() {
      return events.length >= 10 && given < 1000 ? drained : undefined;
    },
  };
  const prepared = await service.prepare("ada", { model: "test", input: "Go", store: false });
  const running = service.runStreamed(prepared, sink, never);
  for (let round = 0; round < 50; round += 1) await new Promise((next) => setImmediate(next));
  expect(events.length).toBe(10);
  expect(given).toBeLessThan(20);
  resolve();
  await running;
  expect(lastResponse(events).status).toBe("completed");
});
