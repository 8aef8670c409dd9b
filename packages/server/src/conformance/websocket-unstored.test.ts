// Responses that are not stored, warm-ups among them, can be continued on their own connection only.

import { describe, expect, onTestFinished, test } from "vitest";
import { ask, connect } from "./testkit/connect-socket.ts";
import { errorFlaws, SocketClient } from "./testkit/socket-client.ts";
import { serverTools } from "./testkit/start.ts";

const unstored = { ...ask, store: false };
const shell = {
  type: "function",
  name: "shell",
  parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
};

describe("what is not stored", () => {
  test("can be followed on the same connection, tool calls and all", async () => {
    const { client, server } = await connect({
      script: [{ thinking: "Hm.", calls: [{ name: "shell", input: { command: "ls" } }] }, "README", "Bye."],
    });
    const first = await client.ask({ ...unstored, tools: [shell] });
    const [, call] = first.response.output;
    const output = { type: "function_call_output", call_id: call.call_id, output: "README" };
    const second = await client.ask({
      ...unstored,
      tools: [shell],
      input: [output],
      previous_response_id: first.response.id,
    });
    expect(second.response).toMatchObject({ status: "completed", previous_response_id: first.response.id });
    await client.ask({ ...unstored, previous_response_id: second.response.id });
    expect(server.model.requests[2]?.messages).toMatchObject([
      { role: "user", content: "Hi" },
      { role: "assistant", reasoning: "Hm.", tool_calls: [{ function: { name: "shell" } }] },
      { role: "tool", content: "README" },
      { role: "assistant", content: "README" },
      { role: "user", content: "Hi" },
    ]);
    const kept = await server.fetch(`${server.baseURL}/responses/${first.response.id}`);
    expect(kept.status).toBe(404);
  });

  test("is not known on another connection", async () => {
    const { client, server } = await connect({ script: "Hello." });
    const { response } = await client.ask(unstored);
    client.close();
    const other = await SocketClient.open(server.baseURL);
    onTestFinished(() => other.socket.terminate());
    const { last } = await other.ask({ ...unstored, previous_response_id: response.id });
    expect(errorFlaws(last)).toEqual([]);
    expect(last).toMatchObject({
      status: 404,
      error: { code: "previous_response_not_found", param: "previous_response_id" },
    });
  });

  test.each([
    ["the model fails", {}],
    ["the request is wrong", { temperature: "hot" }],
  ])("is forgotten when a request that follows it fails: %s", async (_name, wrong) => {
    const { client } = await connect({
      script: [
        "Hello.",
        () => {
          throw new Error("The model is ill.");
        },
      ],
    });
    const { response } = await client.ask(unstored);
    const next = { ...unstored, previous_response_id: response.id };
    expect((await client.ask({ ...next, ...wrong })).last.type).toMatch(/error|response\.failed/);
    expect((await client.ask(next)).last).toMatchObject({ error: { code: "previous_response_not_found" } });
  });

  test("is kept as part of a response that is stored and follows it", async () => {
    const { client, server } = await connect({ script: ["One.", "Two.", "Three."] });
    const first = await client.ask(unstored);
    const second = await client.ask({ ...ask, previous_response_id: first.response.id });
    const other = await SocketClient.open(server.baseURL);
    onTestFinished(() => other.socket.terminate());
    expect((await other.ask({ ...ask, previous_response_id: second.response.id })).last.type).toBe(
      "response.completed",
    );
    expect(server.model.requests[2]?.messages).toHaveLength(5);
  });

  test("is forgotten when there is too much of it", async () => {
    const { client } = await connect({ script: () => "Yes.", config: { webSocket: { keptResponses: 2 } } });
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push((await client.ask(unstored)).response.id);
    const follow = (id?: string) => client.ask({ ...unstored, previous_response_id: id });
    expect((await follow(ids[0])).last).toMatchObject({ error: { code: "previous_response_not_found" } });
    expect((await follow(ids[2])).last.type).toBe("response.completed");
  });

  test("has the rounds of the run when it is continued", async () => {
    const clock = { name: "clock", input: { city: "Rome" } };
    const { client, server } = await connect({
      script: [
        { calls: [clock] },
        { calls: [clock, clock] },
        { calls: [{ name: "shell", input: { command: "ls" } }] },
        "Done.",
      ],
      tools: serverTools,
    });
    const { response } = await client.ask({ ...unstored, tools: [shell] });
    const { call_id } = response.output.at(-1);
    await client.ask({
      ...unstored,
      input: [{ type: "function_call_output", call_id, output: "a b" }],
      previous_response_id: response.id,
      tools: [shell],
    });
    const messages = server.model.requests.at(-1)?.messages ?? [];
    expect(messages.map((it) => (it.role === "assistant" ? it.tool_calls?.length : it.role))).toEqual([
      "user",
      1,
      "tool",
      2,
      "tool",
      "tool",
      1,
      "tool",
    ]);
  });
});

describe("a warm-up", () => {
  test.each([
    ["generate: false", { generate: false }],
    ["a cache option", { prompt_cache_options: { prewarm: true } }],
  ])("is complete at once, and can be followed: %s", async (_name, how) => {
    const { client, server } = await connect({ script: "Hello." });
    const warm = await client.ask({ ...unstored, instructions: "Be short.", ...how });
    expect(warm.events.map(({ type }) => type)).toEqual(["response.created", "response.completed"]);
    expect(warm.response).toMatchObject({ status: "completed", output: [], usage: { total_tokens: 0 } });
    expect(server.model.requests).toHaveLength(0);
    const { last } = await client.ask({
      ...unstored,
      input: [{ role: "user", content: "Again" }],
      previous_response_id: warm.response.id,
    });
    expect(last.type).toBe("response.completed");
    expect(server.model.requests[0]?.messages).toEqual([
      { role: "user", content: "Hi" },
      { role: "user", content: "Again" },
    ]);
  });

  test("needs no input, and may bring tools", async () => {
    const { client, server } = await connect({ script: "Hello." });
    const warm = await client.ask({
      model: "test",
      store: false,
      generate: false,
      input: [{ type: "additional_tools", role: "developer", tools: [shell] }],
    });
    await client.ask({ ...unstored, previous_response_id: warm.response.id });
    expect(server.model.requests[0]?.tools).toMatchObject([{ function: { name: "shell" } }]);
    expect((await client.ask({ model: "test", generate: false })).last.type).toBe("response.completed");
  });
});
