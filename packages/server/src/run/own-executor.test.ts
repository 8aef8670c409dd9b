// An executor of the config with items and events of its own: streamed, stored, read back, resumed after a crash.

import type { JsonValue } from "rondo";
import { scriptedModel } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { callItems } from "../executor/call-items.ts";
import type { ExecuteContext, ToolExecutor } from "../executor/executor.ts";
import { powerCut } from "../store/testkit/store-around.ts";
import { memoryDisk } from "./testkit/crash.ts";
import {
  background,
  collector,
  lastResponse,
  never,
  plain,
  startService,
  stream,
} from "./testkit/service.ts";

const definition = { type: "acme.search" };
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const search = { id: "call_1", name: "search_notes", input: { query: "tea" } };

/** Searches in three steps; continues after the last step that it kept. */
function searcher(seen: ExecuteContext[] = []): ToolExecutor {
  return {
    kind: "acme",
    canExecute: ({ type }) => type === "acme.search",
    describe: () => ({
      name: "search_notes",
      description: "Searches notes.",
      parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    }),
    items: callItems("acme.search_call", { idPrefix: "as" }),
    canResume: true,
    async *stream({ id, arguments: text }, context) {
      seen.push(context);
      const { query } = JSON.parse(text) as { query: string };
      for (let step = Number(context.kept ?? 0) + 1; step <= 3; step += 1)
        yield {
          event: { type: "response.acme.search_call.searching", step },
          item: { step },
          keep: step,
        };
      return { callId: id, output: `2 notes about ${query}`, item: { results: ["Green", "Black"] } };
    },
  };
}

const done = {
  type: "acme.search_call",
  status: "completed",
  name: "search_notes",
  arguments: '{"query":"tea"}',
  output: "2 notes about tea",
  error: null,
  step: 3,
  results: ["Green", "Black"],
};

describe("an executor with items of its own", () => {
  test("streams its item and its events in their order", async () => {
    using model = scriptedModel([{ calls: [search] }, "Found."]);
    const service = await startService({ model, executors: [searcher()] });
    const { events, response } = await stream(service, { input: "Go", tools: [definition] });
    const own = events.filter(
      (event) => event.type.includes("acme") || ("item" in event && event.item.type === "acme.search_call"),
    );
    expect(
      own.map((event) => ("step" in event ? `${event.type} ${String(event.step)}` : event.type)),
    ).toEqual([
      "response.output_item.added",
      "response.acme.search_call.in_progress",
      "response.acme.search_call.searching 1",
      "response.acme.search_call.searching 2",
      "response.acme.search_call.searching 3",
      "response.acme.search_call.completed",
      "response.output_item.done",
    ]);
    const [item] = response.output as unknown as { id: string }[];
    expect(item).toMatchObject(done);
    expect(item?.id).toMatch(/^as_/);
    expect(own.slice(1, -1).every((event) => "item_id" in event && event.item_id === item?.id)).toBe(true);
  });

  test("is read back by later requests, from the store and from the client", async () => {
    using model = scriptedModel([{ calls: [search] }, "Found.", "Two.", "Two again."]);
    const service = await startService({ model, executors: [searcher()] });
    const first = await plain(service, { input: "Go", tools: [definition] });
    expect(first.output[0]).toMatchObject(done);
    await plain(service, { input: "How many?", previous_response_id: first.id, tools: [definition] });
    const sentBack = [{ role: "user", content: "Go" }, ...first.output, { role: "user", content: "Again?" }];
    await plain(service, { input: sentBack, tools: [definition] });
    for (const request of model.requests.slice(2))
      expect(request.messages.slice(1, 3)).toMatchObject([
        {
          role: "assistant",
          tool_calls: [{ function: { name: "search_notes", arguments: '{"query":"tea"}' } }],
        },
        { role: "tool", content: "2 notes about tea" },
      ]);
  });

  test("is chosen and allowed by the type of its tool", async () => {
    using model = scriptedModel([{ calls: [search] }, "Found.", { calls: [search] }, "Found."]);
    const service = await startService({ model, executors: [searcher()] });
    const tools = [definition, { type: "function", name: "other", parameters: { type: "object" } }];
    for (const choice of [definition, { type: "allowed_tools", mode: "auto", tools: [definition] }]) {
      const { output } = await plain(service, { input: "Go", tools, tool_choice: choice });
      expect(output[0]).toMatchObject(done);
    }
    expect(model.requests[0]?.toolChoice).toEqual({ name: "search_notes" });
  });

  test("shows why a call failed", async () => {
    const failing: ToolExecutor = {
      ...searcher(),
      async *stream() {
        yield { event: { type: "response.acme.search_call.searching" } };
        throw new Error("The index is gone.");
      },
    };
    using model = scriptedModel([{ calls: [search] }, "Sorry."]);
    const service = await startService({ model, executors: [failing] });
    const { events, response } = await background(service, { input: "Go", tools: [definition] });
    expect(response.output[0]).toMatchObject({ status: "failed", error: "The index is gone.", output: null });
    expect(events.map(({ type }) => type)).toContain("response.acme.search_call.failed");
  });

  test("continues after a crash from what it kept, at whichever commit the process dies", async () => {
    const startedWith = new Set<JsonValue | undefined>();
    for (let at = 1, isOver = false; !isOver; at += 1) {
      const disk = memoryDisk();
      const power = powerCut(disk.store, { at, isKept: true });
      const seen: ExecuteContext[] = [];
      const start = (store = power.store) => {
        const model = scriptedModel(
          ({ messages }) =>
            messages.some(({ role }) => role === "tool")
              ? { text: "Found.", usage }
              : { calls: [search], usage },
          { name: "test" },
        );
        return startService({ model, executors: [searcher(seen)], store });
      };
      const first = await start();
      const body = { model: "test", input: "Go", background: true, tools: [definition] };
      const { id } = await first.enqueue(await first.prepare("ada", body));
      const sink = collector();
      const ended = first.follow("ada", id, -1, sink, never).then(() => true);
      isOver = await Promise.race([ended, power.isOff.then(() => false)]);
      if (isOver) break;
      const second = await start(await disk.restart());
      const rest = collector();
      await second.follow("ada", id, -1, rest, never);
      expect({ at, output: lastResponse(rest.events).output[0] }).toMatchObject({ at, output: done });
      expect(new Set(seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBeLessThanOrEqual(1);
      for (const { kept } of seen.slice(1)) startedWith.add(kept);
    }
    expect([...startedWith]).toEqual([1, 2, 3]);
  });
});
