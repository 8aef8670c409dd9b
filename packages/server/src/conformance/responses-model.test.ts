// The library's responsesModel() as a client of this server.
import { Client, query, responsesModel, tool } from "rondo";
import { ModelNotFoundError, ReportedStreamError } from "rondo/errors";
import { describe, expect, test } from "vitest";
import { start } from "./testkit/start.ts";

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const callAdd = { calls: [{ name: "add", input: { a: 25, b: 17 } }] };
const usage = { inputTokens: 5, outputTokens: 7, totalTokens: 12 };

test("a server that stores nothing gets the whole conversation each time", async () => {
  const server = await start({ script: ["One.", "Two."], config: { store: "none" } });
  await using client = new Client({
    model: responsesModel(server.baseURL, { store: true }),
    systemPrompt: "Count.",
  });
  for (const prompt of ["Go on.", "And on."]) {
    await client.query(prompt);
    for await (const _ of client.receiveMessages());
  }
  const roles = server.model.requests.at(-1)?.messages.map(({ role }) => role);
  expect(roles).toEqual(["system", "user", "assistant", "user"]);
});

describe.each([true, false])("store: %s", (store) => {
  test("a conversation with tools of the client and of the server reaches the model whole", async () => {
    const clock = tool("clock", "Tells the time.", {}, () => "12:00");
    const server = await start({
      script: [
        { thinking: "Hm.", text: "So.", ...callAdd, usage },
        { calls: [{ name: "clock" }], usage },
        { text: "42 at noon.", usage },
        "Bye.",
      ],
      config: { tools: [clock] },
    });
    const model = responsesModel(server.baseURL, { model: "test", store });
    await using client = new Client({
      model,
      tools: [add],
      autoExecuteTools: true,
      systemPrompt: "Be brief.",
    });
    await client.query("What is 25 + 17, and what time is it?");
    const blocks = await Array.fromAsync(client.receiveMessages());
    expect(blocks).toContainEqual({ type: "thinking", thinking: "Hm." });
    expect(blocks).toContainEqual(expect.objectContaining({ type: "tool_result", content: 42 }));
    expect(JSON.stringify(blocks.filter(({ type }) => type === "server_event"))).toContain("12:00");
    expect(client.result).toMatchObject({
      text: "42 at noon.",
      stopReason: "completed",
      usage: { inputTokens: 15, outputTokens: 21 },
    });
    await client.query("Bye!");
    for await (const _ of client.receiveMessages());
    const roles = server.model.requests.at(-1)?.messages.map(({ role }) => role);
    // The calls of the server's own tools are in its store, and in no message.
    const ownCall = store ? ["assistant", "tool"] : [];
    expect(roles).toEqual(["system", "user", "assistant", "tool", ...ownCall, "assistant", "user"]);
  });

  test("an answer has the shape that is asked for", async () => {
    const server = await start({ script: ['{"sum":42}'] });
    const model = responsesModel(server.baseURL, { store });
    const output = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] } as const;
    const result = await query({ prompt: "What is 25 + 17?", options: { model, output } }).result();
    expect(result.output).toEqual({ sum: 42 });
    expect(server.model.requests[0]?.output?.schema).toMatchObject({ required: ["sum"] });
  });

  test("a model that is not there, and one that fails, are errors of the library", async () => {
    const server = await start({ script: [{ text: "Ha", error: new Error("broken") }] });
    const ask = (model: string) =>
      query({
        prompt: "Hi",
        options: { model: responsesModel(server.baseURL, { model, store, retry: false }) },
      }).result();
    await expect(ask("none")).rejects.toBeInstanceOf(ModelNotFoundError);
    await expect(ask("test")).rejects.toBeInstanceOf(ReportedStreamError);
  });
});
