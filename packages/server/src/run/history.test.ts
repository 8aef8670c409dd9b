// What a request takes over from what was before: chains, single items, and thoughts that the client has kept.

import type { Message } from "rondo";
import { type ScriptedStep, scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { readInputId } from "../protocol/ids.ts";
import { plain, startService } from "./testkit/service.ts";
import { add, calls, weather } from "./testkit/tools.ts";

async function start(script: ScriptedStep | readonly ScriptedStep[]) {
  const model = scriptedModel(script);
  const service = await startService({ model, tools: [add] });
  onTestFinished(() => service.drain(0));
  const lastMessages = () => model.requests.at(-1)?.messages;
  return { model, service, lastMessages };
}

test("the ids of input items name their places, so that they share rows", async () => {
  const { service } = await start(["One."]);
  const input = ["1", "2", "3"].map((content) => ({ role: "user", content }));
  const { id: responseId } = await plain(service, { input });
  const { data } = await service.inputItems("ada", responseId, { limit: 10, order: "asc" });
  expect(data.map(({ id }) => readInputId(id ?? ""))).toEqual(
    [0, 1, 2].map((position) => ({ responseId, position })),
  );
});

describe("a chain", () => {
  test("cannot go on from a response that is still running", async () => {
    const gate = Promise.withResolvers<void>();
    const { service } = await start([{ waitFor: gate.promise, text: "One." }]);
    const prepared = await service.prepare("ada", { model: "test", input: "1", background: true });
    const { id } = await service.enqueue(prepared);
    await expect(plain(service, { input: "2", previous_response_id: id })).rejects.toMatchObject({
      status: 400,
      code: "previous_response_in_progress",
    });
    gate.resolve();
  });

  test("is told oldest first, with the newest instructions alone", async () => {
    const { service, lastMessages } = await start(["One.", "Two.", "Three."]);
    const first = await plain(service, { input: "1", instructions: "Old." });
    const second = await plain(service, {
      input: "2",
      instructions: "Older.",
      previous_response_id: first.id,
    });
    const items = [
      { role: "developer", content: "Briefly." },
      { role: "user", content: "3" },
    ];
    await plain(service, { input: items, instructions: "New.", previous_response_id: second.id });
    expect(lastMessages()).toEqual([
      { role: "system", content: "New." },
      { role: "user", content: "1" },
      { role: "assistant", content: "One." },
      { role: "user", content: "2" },
      { role: "assistant", content: "Two." },
      { role: "system", content: "Briefly." },
      { role: "user", content: "3" },
    ]);
  });

  test("offers the tools that its items brought, and echoes those of the request alone", async () => {
    const { service, model } = await start(["One.", "Two."]);
    const bring = { type: "additional_tools", role: "developer", tools: [{ ...weather, name: "brought" }] };
    const first = await plain(service, { input: [{ role: "user", content: "1" }, bring], tools: [weather] });
    expect(first.tools.map(({ name }) => name)).toEqual(["weather"]);
    const body = { input: "2", previous_response_id: first.id, tools: [{ ...weather, name: "own" }] };
    const second = await plain(service, body);
    expect(second.tools.map(({ name }) => name)).toEqual(["own"]);
    const offered = model.requests.at(-1)?.tools?.map(({ function: { name } }) => name);
    expect(offered).toEqual(expect.arrayContaining(["brought", "own"]));
    expect(await service.get("ada", second.id)).toMatchObject({ tools: second.tools });
  });

  test("may be gone on with from any of its responses", async () => {
    const { service, lastMessages } = await start(({ messages }) => `Answer ${messages.length}`);
    const first = await plain(service, { input: "1" });
    await plain(service, { input: "2a", previous_response_id: first.id });
    await plain(service, { input: "2b", previous_response_id: first.id });
    expect(lastMessages()?.map(({ content }) => content)).toEqual(["1", "Answer 1", "2b"]);
  });

  test("of another owner, of one that was not stored, or of none is not found", async () => {
    const { service } = await start("Done.");
    const hers = await plain(service, { input: "1" });
    const unstored = await plain(service, { input: "1", store: false });
    const notFound = { status: 404, code: "previous_response_not_found", param: "previous_response_id" };
    for (const [id, owner] of [
      [hers.id, "bob"],
      [unstored.id, "ada"],
      ["resp_none", "ada"],
    ] as const)
      await expect(plain(service, { input: "2", previous_response_id: id }, owner)).rejects.toMatchObject(
        notFound,
      );
  });

  test("shows a cut answer of its last response, as the client has seen it", async () => {
    const { service, lastMessages } = await start([{ text: "Half", finishReason: "length" }, "Whole."]);
    const first = await plain(service, { input: "1" });
    await plain(service, { input: "Go on", previous_response_id: first.id });
    expect(lastMessages()?.map(({ content }) => content)).toEqual(["1", "Half", "Go on"]);
  });
});

describe("an item reference", () => {
  test("stands for the item, also for a call of the client and for one of the server", async () => {
    const { service, lastMessages } = await start([
      { thinking: "Hm.", text: "A moment", calls: calls("add", "weather") },
      "Done.",
    ]);
    const { output } = await plain(service, { input: "Go", tools: [weather] });
    const call = output.find((item) => item.type === "function_call");
    const input = [
      { role: "user", content: "Go" },
      ...output.map(({ id }, index) => (index === 0 ? { id } : { type: "item_reference", id })),
      { type: "function_call_output", call_id: call?.call_id, output: "sun" },
    ];
    await plain(service, { input, tools: [weather] });
    expect(lastMessages()).toMatchObject([
      { role: "user" },
      { role: "assistant", content: "A moment", reasoning: "Hm.", tool_calls: [{}, {}] },
      { role: "tool", content: "3" },
      { role: "tool", content: "sun" },
    ]);
  });

  test("to an input item is one too, and its response keeps the item itself", async () => {
    const { service, lastMessages } = await start("Done.");
    const page = { limit: 20, order: "asc" } as const;
    const first = await plain(service, { input: "Go" });
    const [item] = (await service.inputItems("ada", first.id, page)).data;
    const second = await plain(service, { input: [{ type: "item_reference", id: item?.id }] });
    expect(lastMessages()).toEqual([{ role: "user", content: "Go" }]);
    await service.remove("ada", first.id);
    expect((await service.inputItems("ada", second.id, page)).data).toMatchObject([
      { type: "message", role: "user" },
    ]);
  });

  test("to another owner's item, or to none, is not found", async () => {
    const { service } = await start("Done.");
    const { output } = await plain(service, { input: "Go" });
    for (const [id, owner] of [
      [output[0]?.id, "bob"],
      ["msg_none", "ada"],
    ] as const) {
      const input = [
        { role: "user", content: "Hi" },
        { type: "item_reference", id },
      ];
      await expect(plain(service, { input }, owner)).rejects.toMatchObject({
        status: 404,
        param: "input[1]",
      });
    }
  });
});

describe("a client that keeps the conversation itself", () => {
  const body = { store: false, include: ["reasoning.encrypted_content"] };

  test("gives thoughts back sealed, and only its own are read", async () => {
    const { service, lastMessages } = await start([
      { thinking: "A deep thought.", text: "Yes." },
      "So.",
      "So.",
    ]);
    const { output } = await plain(service, { input: "Go", ...body });
    const [thought, said] = output;
    expect(thought).toMatchObject({
      type: "reasoning",
      encrypted_content: expect.not.stringContaining("deep"),
    });
    const bare = { ...thought, content: [], summary: [] };
    const input = [{ role: "user", content: "Go" }, bare, said, { role: "user", content: "And?" }];
    await plain(service, { input, ...body });
    expect(lastMessages()?.[1]).toEqual({ role: "assistant", content: "Yes.", reasoning: "A deep thought." });
    await plain(service, { input, ...body }, "bob");
    expect(lastMessages()?.[1]).toEqual({ role: "assistant", content: "Yes." });
  });

  test("may send thoughts as summaries, as content, or as both, as older versions and other servers made them", async () => {
    const { service, lastMessages } = await start(() => "So.");
    const summary = [{ type: "summary_text", text: "Hm." }];
    const content = [{ type: "reasoning_text", text: "Hm." }];
    for (const thought of [
      { summary },
      { summary: [], content },
      { summary, content },
      { summary: [], content: null },
    ]) {
      const item = { type: "reasoning", ...thought };
      await plain(service, {
        input: [{ role: "user", content: "Go" }, item, { role: "assistant", content: "Yes." }],
      });
      const isEmpty = thought.content === null;
      expect(lastMessages()?.[1]).toEqual({
        role: "assistant",
        content: "Yes.",
        ...(!isEmpty && { reasoning: "Hm." }),
      });
    }
  });

  test("gets no sealed thoughts unless it asks for them, and nothing is kept", async () => {
    const { service } = await start([{ thinking: "Hm.", text: "Yes." }]);
    const { id, output } = await plain(service, { input: "Go", store: false });
    expect(output[0]).not.toHaveProperty("encrypted_content");
    await expect(service.get("ada", id)).rejects.toMatchObject({ status: 404 });
  });

  test("may send the output of a response as it came", async () => {
    const { service, lastMessages } = await start([
      { thinking: "Hm.", text: "A moment", calls: calls("weather", "add") },
      "Done.",
    ]);
    const { output } = await plain(service, { input: "Go", tools: [weather], ...body });
    const call = output.find((item) => item.type === "function_call");
    const result = {
      type: "function_call_output",
      call_id: call?.call_id,
      output: [{ type: "input_text", text: "sun" }],
    };
    await plain(service, {
      input: [{ role: "user", content: "Go" }, ...output, result],
      tools: [weather],
      ...body,
    });
    expect(lastMessages()).toMatchObject([
      { role: "user" },
      { role: "assistant", content: "A moment", reasoning: "Hm.", tool_calls: [{}, {}] },
      { role: "tool", content: "3" },
      { role: "tool", content: "sun" },
    ]);
  });
});

/** A conversation in short: who speaks, and what is called. */
const rounds = (messages: readonly Message[] | undefined) =>
  messages?.map((message) => {
    const called = message.role === "assistant" ? message.tool_calls : undefined;
    return called ? called.map((call) => call.function.name).join("+") : message.role;
  });

describe("a history that is sent again", () => {
  const script = [
    { calls: calls("add") },
    { calls: calls("add", "add") },
    { calls: calls("add", "weather") },
    "Done.",
    "Done again.",
  ];
  const asRun = ["user", "add", "tool", "add+add", "tool", "tool", "add+weather", "tool", "tool"];

  async function firstResponse(body: object) {
    const { service, lastMessages } = await start(script);
    const user = { role: "user", content: "Go" };
    const { id, output } = await plain(service, { input: [user], tools: [weather], ...body });
    const call = output.find((item) => item.type === "function_call");
    const result = { type: "function_call_output", call_id: call?.call_id, output: "sun" };
    return { service, lastMessages, id, user, output, result };
  }

  test("has the rounds of a chain: calls of one answer stay one message, successive ones stay successive", async () => {
    const chain = await firstResponse({});
    await plain(chain.service, { input: [chain.result], previous_response_id: chain.id, tools: [weather] });
    expect(rounds(chain.lastMessages())).toEqual(asRun);

    const sent = await firstResponse({ store: false });
    const input = [sent.user, ...sent.output, sent.result];
    await plain(sent.service, { input, store: false, tools: [weather] });
    expect(rounds(sent.lastMessages())).toEqual(asRun);
  });

  test("keeps them where it was stored as the input of a response that is continued", async () => {
    const { service, lastMessages, user, output, result } = await firstResponse({});
    const { id } = await plain(service, { input: [user, ...output, result], tools: [weather] });
    await plain(service, { input: "And?", previous_response_id: id, tools: [weather] });
    expect(rounds(lastMessages())).toEqual([...asRun, "assistant", "user"]);
  });

  test("joins items without ids as before: by their outputs", async () => {
    const { service, lastMessages, user, output, result } = await firstResponse({ store: false });
    const bare = output.map(({ id: _id, ...item }) => item);
    await plain(service, { input: [user, ...bare, result], store: false, tools: [weather] });
    expect(rounds(lastMessages())).toEqual(["user", "add+add+add+add+weather", ...Array(5).fill("tool")]);
  });
});
