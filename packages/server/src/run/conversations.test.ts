import { join } from "node:path";
import type { Message } from "rondo";
import { type ScriptedStep, scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { sqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { Conversations } from "./conversations.ts";
import type { Responses } from "./responses.ts";
import { runWithCrashes } from "./testkit/crash.ts";
import { background, never, plain, type ServiceSetup, startService, stream } from "./testkit/service.ts";

const owner = "ada";
const limits = { maxItems: 1000 };
// Only reached when something is wrong.
const patient = { timeout: 20_000 };

async function started(script: ScriptedStep[], setup: Partial<ServiceSetup> = {}) {
  const store = setup.store ?? memoryStore();
  const model = scriptedModel(script);
  const service = await startService({ model, ...setup, store });
  const conversations = new Conversations({ store, limits });
  const { id } = await conversations.create(owner, undefined);
  return { store, model, service, conversations, id };
}

/** What is in a conversation, in a few words. */
async function shown(conversations: Conversations, id: string): Promise<unknown[]> {
  const { data } = await conversations.items(owner, id, { limit: 100, order: "asc" });
  return data.map((item) => {
    const { type, role, content, call_id: callId } = item as Record<string, unknown>;
    if (type !== "message") return `${String(type)} ${String(callId)}`;
    return `${String(role)}: ${(content as { text: string }[]).map(({ text }) => text).join("")}`;
  });
}

const said = (messages: readonly Message[] | undefined) =>
  messages?.map(({ role, content }) => `${role}: ${typeof content === "string" ? content : "…"}`);

const weather = { type: "function", name: "weather", parameters: { type: "object", properties: {} } };

describe("a response of a conversation", () => {
  test("reads what is there, and adds its input and output", async () => {
    const { service, model, conversations, id } = await started(["Hello.", "Fine."]);
    await conversations.addItems(owner, id, { items: [{ role: "developer", content: "Be kind." }] });

    const first = await plain(service, { input: "Hi.", conversation: id });
    const second = await stream(service, { input: "How are you?", conversation: { id } });

    expect([first.conversation, second.response.conversation]).toEqual([{ id }, { id }]);
    expect(await service.get(owner, first.id)).toEqual(first);
    expect(said(model.requests[1]?.messages)).toEqual([
      "system: Be kind.",
      "user: Hi.",
      "assistant: Hello.",
      "user: How are you?",
    ]);
    expect(await shown(conversations, id)).toEqual([
      "developer: Be kind.",
      "user: Hi.",
      "assistant: Hello.",
      "user: How are you?",
      "assistant: Fine.",
    ]);
    model.assertUsedUp();
  });

  test("has the same item ids in the conversation as in its output", async () => {
    const { service, conversations, id } = await started(["Hello."]);
    const { output } = await plain(service, { input: "Hi.", conversation: id });
    const { data } = await conversations.items(owner, id, { limit: 1, order: "desc" });
    expect(data[0]?.id).toBe(output[0]?.id);
  });

  test("works in the background too, and waits there for the one before it", async () => {
    const gate = Promise.withResolvers<void>();
    const { service, model, conversations, id } = await started([
      { text: ["One", gate.promise, "."] },
      "Two.",
      "Three.",
    ]);
    const first = plain(service, { input: "1", conversation: id });
    await model.request(0);
    const second = background(service, { input: "2", conversation: id });
    const third = background(service, { input: "3", conversation: id });
    gate.resolve();
    await Promise.all([first, second, third]);
    expect(await shown(conversations, id)).toEqual([
      "user: 1",
      "assistant: One.",
      "user: 2",
      "assistant: Two.",
      "user: 3",
      "assistant: Three.",
    ]);
  });

  test("that waits for the client goes on when the client has answered", async () => {
    const call = { calls: [{ name: "weather", input: {} }] };
    const { service, conversations, id } = await started([call, "Sunny."]);
    const asked = await plain(service, { input: "Weather?", conversation: id, tools: [weather] });
    const [item] = asked.output;
    if (item?.type !== "function_call") throw new Error("There is no call.");
    await expect(plain(service, { input: "Well?", conversation: id })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("No tool output found"),
    });
    const input = [{ type: "function_call_output", call_id: item.call_id, output: "sun" }];
    await plain(service, { input, conversation: id, tools: [weather] });
    expect(await shown(conversations, id)).toEqual([
      "user: Weather?",
      `function_call ${item.call_id}`,
      `function_call_output ${item.call_id}`,
      "assistant: Sunny.",
    ]);
  });

  test("with calls that nobody was to answer can be followed", async () => {
    const call = { calls: [{ name: "weather", input: {} }] };
    const { service, id } = await started([call, "Well."]);
    await plain(service, { input: "Hi.", conversation: id, tools: [weather], tool_choice: "none" });
    expect((await plain(service, { input: "And?", conversation: id })).status).toBe("completed");
  });

  test("that fails or is cancelled leaves it as it was", async () => {
    const { service, model, conversations, id } = await started([
      { error: new Error("Broken.") },
      { text: ["Half", new Promise(() => {})] },
      "Hello.",
    ]);
    await expect(plain(service, { input: "1", conversation: id })).rejects.toMatchObject({ status: 500 });
    const gone = new AbortController();
    const prepared = await service.prepare(owner, { model: "test", input: "2", conversation: id });
    const cut = service.runPlain(prepared, gone.signal);
    await model.request(1);
    gone.abort();
    expect((await cut).status).toBe("cancelled");
    expect(await shown(conversations, id)).toEqual([]);
    await plain(service, { input: "3", conversation: id });
    expect(await shown(conversations, id)).toEqual(["user: 3", "assistant: Hello."]);
  });

  test("needs a conversation that exists and is the owner's, and has to be stored", async () => {
    const { service, id } = await started([]);
    const missing = { status: 404, code: "conversation_not_found" };
    await expect(plain(service, { input: "Hi.", conversation: "conv_0" })).rejects.toMatchObject(missing);
    await expect(plain(service, { input: "Hi.", conversation: id }, "bob")).rejects.toMatchObject(missing);
    await expect(plain(service, { input: "Hi.", conversation: id, store: false })).rejects.toMatchObject({
      status: 400,
      param: "store",
    });
  });
});

describe("requests to a conversation that is at work", () => {
  test("run one after the other, and read what those before them have added", async () => {
    const gate = Promise.withResolvers<void>();
    const { service, model, id } = await started([{ text: ["One", gate.promise, "."] }, "Two.", "Three."]);
    const first = plain(service, { input: "1", conversation: id });
    await model.request(0);
    const second = plain(service, { input: "2", conversation: id });
    const third = stream(service, { input: "3", conversation: id });
    gate.resolve();
    await Promise.all([first, second, third]);
    expect(said(model.requests[2]?.messages)).toEqual([
      "user: 1",
      "assistant: One.",
      "user: 2",
      "assistant: Two.",
      "user: 3",
    ]);
  });

  test("are not refused for what the one before them is about to settle", async () => {
    const gate = Promise.withResolvers<void>();
    const { service, model, id } = await started([
      { calls: [{ name: "weather", input: {} }] },
      { text: ["Sunny", gate.promise, "."] },
      "You are welcome.",
    ]);
    const { output } = await plain(service, { input: "1", conversation: id, tools: [weather] });
    const [call] = output;
    if (call?.type !== "function_call") throw new Error("There is no call.");
    const input = [{ type: "function_call_output", call_id: call.call_id, output: "sun" }];
    const second = plain(service, { input, conversation: id, tools: [weather] });
    await model.request(1);
    // The call in the conversation has no answer yet.
    const third = plain(service, { input: "Thanks.", conversation: id });
    const fourth = service.prepare(owner, { model: "test", input: "?", conversation: id, background: true });
    await expect(fourth).resolves.toBeDefined();
    gate.resolve();
    expect((await second).status).toBe("completed");
    expect((await third).status).toBe("completed");
  });

  test("stop waiting when their client disconnects, or when the run before them is deleted", async () => {
    const { service, model, conversations, id } = await started([
      { text: ["One", new Promise(() => {})] },
      "Three.",
    ]);
    const first = plain(service, { input: "1", conversation: id }).catch(() => {});
    await model.request(0);
    const gone = new AbortController();
    const prepared = await service.prepare(owner, { model: "test", input: "2", conversation: id });
    const second = service.runPlain(prepared, gone.signal);
    const third = plain(service, { input: "3", conversation: id });
    gone.abort(new Error("Left."));
    await expect(second).rejects.toThrow("Left.");
    const { data } = await service.list(owner, { limit: 1, order: "desc" });
    await service.remove(owner, data[0]?.id ?? "");
    await Promise.all([first, third]);
    expect(await shown(conversations, id)).toEqual(["user: 3", "assistant: Three."]);
  });

  test("can be cancelled while they wait in the background", async () => {
    const gate = Promise.withResolvers<void>();
    const { service, model, conversations, id } = await started([{ text: ["One", gate.promise, "."] }]);
    const first = plain(service, { input: "1", conversation: id });
    await model.request(0);
    const body = { model: "test", input: "2", conversation: id, background: true };
    const queued = await service.enqueue(await service.prepare(owner, body));
    expect((await service.cancel(owner, queued.id)).status).toBe("cancelled");
    gate.resolve();
    await first;
    expect(await shown(conversations, id)).toEqual(["user: 1", "assistant: One."]);
  });

  test("are refused if the config says so", async () => {
    const gate = Promise.withResolvers<void>();
    const { service, model, id } = await started([{ text: ["One", gate.promise, "."] }, "Two."], {
      conversations: "reject",
    });
    // Accepted before the first has begun, and refused when it would begin itself.
    const late = await service.prepare(owner, { model: "test", input: "2", conversation: id });
    const lateQueued = await service.prepare(owner, {
      model: "test",
      input: "2",
      conversation: id,
      background: true,
    });
    const first = plain(service, { input: "1", conversation: id });
    await model.request(0);
    const busy = { status: 409, code: "conversation_busy", param: "conversation" };
    await expect(plain(service, { input: "2", conversation: id })).rejects.toMatchObject(busy);
    await expect(service.runPlain(late, never)).rejects.toMatchObject(busy);
    await expect(service.enqueue(lateQueued)).rejects.toMatchObject(busy);
    gate.resolve();
    await first;
    expect((await plain(service, { input: "2", conversation: id })).status).toBe("completed");
  });

  test("of two processes on one store run one at a time", async () => {
    const store = memoryStore();
    const gate = Promise.withResolvers<void>();
    const one = await started([{ text: ["One", gate.promise, "."] }], { store });
    const two = await started(["Two."], { store });
    const first = plain(one.service, { input: "1", conversation: one.id });
    await one.model.request(0);
    const second = plain(two.service, { input: "2", conversation: one.id });
    gate.resolve();
    await Promise.all([first, second]);
    expect(await shown(one.conversations, one.id)).toEqual([
      "user: 1",
      "assistant: One.",
      "user: 2",
      "assistant: Two.",
    ]);
  });
});

describe("a conversation", () => {
  test("outlives the process, and so does the order of those that wait in it", async () => {
    using folder = tempFolder();
    const path = join(folder.path, "rondo.db");
    const before = await started(["Hello.", { text: ["Half", new Promise(() => {})] }], {
      store: sqliteStore({ path }),
    });
    const { id } = before;
    await plain(before.service, { input: "Hi.", conversation: id });
    const queued = await enqueueAll(before.service, id, ["2", "3"]);
    await vi.waitFor(async () => {
      const log = await before.store.events(owner, queued[0] ?? "", -1, 100);
      expect(log.some(({ data }) => data.includes('"delta":"Half"'))).toBe(true);
    }, patient);
    await before.service.drain(0);
    await before.store.close();

    const store: Store = sqliteStore({ path });
    onTestFinished(() => store.close());
    const model = scriptedModel(["Two.", "Three."]);
    const service = await startService({ model, store });
    const conversations = new Conversations({ store, limits });
    await vi.waitFor(async () => {
      const ended = await Promise.all(queued.map((each) => service.get(owner, each)));
      expect(ended.map(({ status }) => status)).toEqual(["completed", "completed"]);
    }, patient);
    expect(await shown(conversations, id)).toEqual([
      "user: Hi.",
      "assistant: Hello.",
      "user: 2",
      "assistant: Half",
      "assistant: Two.",
      "user: 3",
      "assistant: Three.",
    ]);
    expect(said(model.requests[1]?.messages)).toEqual([
      "user: Hi.",
      "assistant: Hello.",
      "user: 2",
      "assistant: Two.",
      "user: 3",
    ]);
    await service.drain(0);
  });

  test.each([1, 2, 3, 4, 5, 6])("gets each item once, though the power is cut at commit %i", async (at) => {
    for (const isKept of [true, false]) {
      const store = memoryStore({ now: () => nowMs });
      let nowMs = 1_000_000;
      const conversations = new Conversations({ store, limits });
      const { id } = await conversations.create(owner, {});
      const disk = {
        store,
        restart: async () => {
          nowMs += 1_000_000;
          return store;
        },
      };
      const script = [{ calls: [{ name: "look", input: { n: 1 } }] }, { text: ["Done."] }];
      const { response } = await runWithCrashes(
        { script, body: { conversation: id } },
        [{ at, isKept }],
        disk,
      );
      const { data } = await conversations.items(owner, id, { limit: 100, order: "asc" });
      expect(data.slice(1).map((item) => item.id)).toEqual(response.output.map((item) => item.id));
      expect(data[0]).toMatchObject({ type: "message", role: "user" });
    }
  });
});

async function enqueueAll(service: Responses, conversation: string, inputs: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const input of inputs) {
    const body = { model: "test", input, conversation, background: true };
    ids.push((await service.enqueue(await service.prepare(owner, body))).id);
  }
  return ids;
}
