// Executors of the config that fail, hang, or report what is not theirs to report.

import { tool } from "rondo";
import { scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { callItems } from "../executor/call-items.ts";
import type { CallUpdate, ToolExecutor, ToolOffer } from "../executor/executor.ts";
import { Executors } from "../executor/executors.ts";
import type { Step } from "../store/store.ts";
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
const call = { id: "call_1", name: "search", input: {} };

function executor(more: Partial<ToolExecutor>): ToolExecutor {
  return {
    kind: "acme",
    canExecute: ({ type }) => type === definition.type,
    describe: () => ({ name: "search", description: "Searches.", parameters: { type: "object" } }),
    items: callItems("acme.search_call"),
    ...more,
  };
}

/** Reports one update, then succeeds. */
function reporting(update: unknown): ToolExecutor {
  return executor({
    async *stream({ id }) {
      yield update as CallUpdate;
      return { callId: id, output: "done" };
    },
  });
}

describe("an update of an executor", () => {
  test("does not change the place of its event, nor the id and type of its item", async () => {
    using model = scriptedModel([{ text: "So.", calls: [call] }, "Done."]);
    const event = {
      type: "response.acme.search_call.searching",
      item_id: "msg_forged",
      output_index: 0,
      sequence_number: 0,
    };
    const item = { id: "msg_forged", type: "message", status: "in_progress", approval_request_id: "x" };
    const service = await startService({ model, executors: [reporting({ event, item })] });
    const { events, response } = await stream(service, { input: "Go", tools: [definition] });
    const [, made] = response.output;
    expect(made).toMatchObject({ type: "acme.search_call", id: expect.stringMatching(/^call_/) });
    expect(made).toMatchObject({ status: "completed" });
    expect(events.map((it) => it.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.find(({ type }) => type === event.type)).toMatchObject({
      item_id: made?.id,
      output_index: 1,
    });
  });

  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  test.each([
    ["an event of the server's", { event: { type: "response.completed", response: {} } }],
    ["an event about other items", { event: { type: "response.output_text.delta", delta: "forged" } }],
    ["an event without a type", { event: {} }],
    ["a number", 7],
    ["what JSON cannot hold", { keep: 1n }],
    ["a cycle", { item: cycle }],
  ])("that is %s fails the call alone", async (_, update) => {
    using model = scriptedModel([{ calls: [call] }, "Sorry."]);
    const service = await startService({ model, executors: [reporting(update)] });
    const { events, response } = await background(service, { input: "Go", tools: [definition] });
    expect(response).toMatchObject({ status: "completed", output: [{ status: "failed" }, {}] });
    expect(JSON.stringify(events)).not.toContain("forged");
    expect(JSON.stringify(events)).not.toContain("the server stopped");
    expect(events.filter(({ type }) => type === "response.completed")).toHaveLength(1);
  });

  test.each([
    undefined,
    { callId: "call_1" },
    { callId: "call_1", output: 7 },
    { output: "", item: { a: 1n } },
  ])("a result that is not one fails the call alone: %o", async (result) => {
    using model = scriptedModel([{ calls: [call] }, "Sorry."]);
    const service = await startService({
      model,
      executors: [executor({ execute: async () => result as never })],
    });
    const { response } = await background(service, { input: "Go", tools: [definition] });
    expect(response).toMatchObject({ status: "completed", output: [{ status: "failed" }, {}] });
  });

  test("is nothing that a streaming tool of the config can make", async () => {
    const click = tool(
      { name: "click", description: "Clicks.", input: {}, registry: false },
      async function* () {
        yield { event: { type: "response.acme.search_call.searching" }, keep: 1 };
      },
    );
    using model = scriptedModel([{ calls: [{ name: "click" }] }, "Done."]);
    const service = await startService({ model, tools: [click] });
    const { events } = await background(service, { input: "Go" });
    expect(events.map(({ type }) => type)).not.toContain("response.acme.search_call.searching");
  });
});

describe("an executor that fails to offer", () => {
  const fails: [string, Partial<ToolExecutor>][] = [
    [
      "throws",
      {
        offer: () => {
          throw new Error("no disk");
        },
      },
    ],
    ["rejects", { offer: () => Promise.reject(new Error("no disk")) }],
    ["hangs", { offer: () => new Promise<never>(() => {}) }],
    ["offers nothing at all", { offer: () => undefined as never }],
    ["offers no list", { offer: async () => ({}) as never }],
    ["offers no tools", { offer: () => ({ tools: [null] }) as never }],
  ];
  test.each(fails)("and %s breaks only requests with its tools", async (_, more) => {
    const executors = new Executors({
      executors: [executor({ kind: "broken", ...more })],
      tools: [tool({ name: "own", description: "Ours.", input: {}, registry: false }, async () => 1)],
      offerMs: 20,
    });
    const request = { owner: "ada", responseId: "resp_1" };
    const offer = await executors.offer({ ...request, definitions: [] });
    expect(offer.tools.map(({ name }) => name)).toEqual(["own"]);
    expect(offer.ignored).toEqual([expect.stringContaining("'broken'")]);
    await expect(executors.offer({ ...request, definitions: [definition] })).rejects.toMatchObject({
      status: 500,
      code: "executor_failed",
      param: "tools[0]",
      message: expect.stringContaining("'broken'"),
    });
  });

  test("leaves no rejection unhandled when the request has another bad tool", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.prependListener("unhandledRejection", note);
    onTestFinished(() => void process.removeListener("unhandledRejection", note));
    const late = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error("no disk");
    };
    const executors = new Executors({ executors: [executor({ offer: late })] });
    const bad = { type: "function" };
    const offer = executors.offer({ owner: "ada", responseId: "resp_1", definitions: [definition, bad] });
    await expect(offer).rejects.toMatchObject({ status: 400, param: "tools[1].name" });
    for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  test("because it cannot say which tools are its own leaves them to the others", async () => {
    const broken = executor({
      kind: "broken",
      canExecute: () => {
        throw new Error("no disk");
      },
    });
    using model = scriptedModel([{ calls: [call] }, "Done."]);
    const own = executor({ execute: async ({ id }) => ({ callId: id, output: "found" }) });
    const service = await startService({ model, executors: [broken, own] });
    const response = await plain(service, { input: "Go", tools: [definition] });
    expect(response.output[0]).toMatchObject({ output: "found" });
  });
});

/** Offers `search` by itself, with items that only the offer has. */
function offering(more: Partial<ToolOffer["tools"][number]> = {}, label = "acme"): ToolExecutor {
  const found = tool(
    { name: "search", description: "Searches.", input: {}, registry: false },
    async () => "found",
  );
  const identity = { host: "executor:acme", label, name: "search" };
  const items = callItems("acme.search_call");
  return {
    kind: "acme",
    canExecute: () => false,
    offer: () => ({ tools: [{ tool: found, identity, runsHere: true, items, ...more }] }),
  };
}

describe("items of an offer", () => {
  test("begin and end as the same item, also if the executor does not name their type", async () => {
    using model = scriptedModel([{ calls: [call] }, "Done."]);
    const service = await startService({ model, executors: [offering()] });
    const { events, response } = await stream(service, { input: "Go" });
    expect(response.output[0]).toMatchObject({ type: "acme.search_call", output: "found" });
    expect(events.map(({ type }) => type)).toContain("response.acme.search_call.completed");
  });

  test("are those of their own executor where two have the same type", async () => {
    const titled = (kind: string): ToolExecutor => {
      const items = callItems("acme.search_call");
      return {
        kind,
        canExecute: ({ type }) => type === kind,
        describe: () => ({ name: kind, description: kind, parameters: { type: "object" } }),
        items: { ...items, item: (...args) => ({ ...items.item(...args), title: kind }) as never },
        execute: async ({ id }) => ({ callId: id, output: "found" }),
      };
    };
    using model = scriptedModel([{ calls: [{ name: "one" }, { name: "two" }] }, "Done."]);
    const service = await startService({ model, executors: [titled("one"), titled("two")] });
    const response = await plain(service, { input: "Go", tools: [{ type: "one" }, { type: "two" }] });
    expect(response.output).toMatchObject([{ title: "one" }, { title: "two" }, {}]);
  });

  test("know by which request a person allowed them, and are one call for later requests", async () => {
    using model = scriptedModel([{ calls: [call] }, "Done.", "As I said."]);
    const own = { ...offering({ needsApproval: true }), items: callItems("acme.search_call") };
    const service = await startService({ model, executors: [own] });
    const asked = await plain(service, { input: "Go" });
    const request = asked.output[0] as { id: string };
    expect(request).toMatchObject({ type: "mcp_approval_request", server_label: "acme", name: "search" });
    const approval = { type: "mcp_approval_response", approval_request_id: request.id, approve: true };
    const done = await plain(service, { input: [approval], previous_response_id: asked.id });
    expect(done.output[0]).toMatchObject({
      type: "acme.search_call",
      output: "found",
      approval_request_id: request.id,
    });
    await plain(service, { input: "And?", previous_response_id: done.id });
    const messages = model.requests.at(-1)?.messages ?? [];
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "Go"],
      ["assistant", ""],
      ["tool", "found"],
      ["assistant", "Done."],
      ["user", "And?"],
    ]);
  });
});

describe("an executor that cannot hold what a run needs", () => {
  test.each([true, false])(
    "fails the run, and others release theirs: background %s",
    async (isBackground) => {
      let held = 0;
      const holding = (kind: string, hold: () => () => void): ToolExecutor => ({
        kind,
        canExecute: () => false,
        offer: () => ({ tools: [], hold }),
      });
      const counting = holding("counting", () => {
        held += 1;
        return () => {
          held -= 1;
        };
      });
      const failing = holding("failing", () => {
        throw new Error("no room");
      });
      using model = scriptedModel([]);
      const service = await startService({ model, executors: [counting, failing] });
      const { response } = await (isBackground ? background : stream)(service, { input: "Go" });
      expect(response).toMatchObject({ status: "failed" });
      expect(held).toBe(0);
    },
  );
});

describe("a background run ends", () => {
  /** Cuts the power while the call runs, and starts again with another executor or store. */
  async function afterCrash(
    executors: readonly ToolExecutor[],
    changeSteps = (steps: readonly Step[]) => steps,
  ) {
    const disk = memoryDisk();
    const power = powerCut(disk.store, { at: 3, isKept: true });
    const model = () =>
      scriptedModel([{ calls: [call, { ...call, id: "call_2" }] }, "Done."], { name: "test" });
    const hangs = executor({
      stream: async function* () {
        yield { keep: 1 };
        await new Promise(() => {});
        return undefined as never;
      },
    });
    const first = await startService({ model: model(), executors: [hangs], store: power.store });
    const body = { model: "test", input: "Go", background: true, tools: [definition] };
    const { id } = await first.enqueue(await first.prepare("ada", body));
    await power.isOff;
    const store = await disk.restart();
    const resume = store.resume.bind(store);
    store.resume = async (lease) => {
      const stored = await resume(lease);
      return { ...stored, steps: changeSteps(stored.steps) };
    };
    const second = await startService({ model: model(), executors, store });
    const sink = collector();
    await second.follow("ada", id, -1, sink, never);
    return lastResponse(sink.events);
  }

  test("with an error when its steps are of a later version", async () => {
    const later = (steps: readonly Step[]) => steps.map((step) => ({ ...step, version: 99 }));
    const own = executor({ execute: async ({ id }) => ({ callId: id, output: "found" }) });
    expect(await afterCrash([own], later)).toMatchObject({
      status: "failed",
      error: { code: "unknown_step_version", message: expect.stringContaining("version 99") },
    });
  });

  test("also when the executor cannot say how its items end", async () => {
    const items = callItems("acme.search_call");
    const broken = executor({
      items: {
        ...items,
        ended: () => {
          throw new Error("no end");
        },
      },
      execute: async ({ id }) => ({ callId: id, output: "found" }),
    });
    expect(await afterCrash([broken])).toMatchObject({ status: "failed" });
  });
});
