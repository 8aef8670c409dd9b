import { describe, expect, test } from "vitest";
import { Client } from "../../client/client.ts";
import type { ModelRequest } from "../provider.ts";
import { responsesModel } from "./responses-model.ts";
import { add } from "./testkit/ask-model.ts";
import { call, message, startResponsesServer, stream } from "./testkit/responses-server.ts";

describe("with store", () => {
  const options = { store: true, model: "m" };
  const ids = (requests: readonly { body: Record<string, unknown> }[]) =>
    requests.map(({ body }) => [body["previous_response_id"], (body["input"] as unknown[]).length]);

  test("a conversation of an earlier process goes on from its last response", async () => {
    const { url, requests } = await startResponsesServer([
      stream(message(["Two."]), { id: "resp_2" }),
      stream(message(["Three."]), { id: "resp_3" }),
    ]);
    const messages = [
      { role: "user", content: "a" } as const,
      { role: "assistant", content: "One." } as const,
    ];
    const model = responsesModel(url, { ...options, continues: { responseId: "resp_1", messages } });
    const client = new Client({ model, systemPrompt: "Be brief." });
    client.messageHistory = messages;
    for (const prompt of ["b", "c"]) {
      await client.query(prompt);
      for await (const _ of client.receiveMessages());
    }
    expect(ids(requests)).toEqual([
      ["resp_1", 1],
      ["resp_2", 1],
    ]);
  });

  test("each request sends only what is new, with the instructions", async () => {
    const { url, requests } = await startResponsesServer([
      stream([...message(["So."]), ...call("add", ['{"a":25, "b":17}'], 1)], { id: "resp_1" }),
      stream(message(["42."]), { id: "resp_2" }),
      stream(message(["Bye."]), { id: "resp_3" }),
    ]);
    const client = new Client({
      model: responsesModel(url, options),
      tools: [add],
      autoExecuteTools: true,
      systemPrompt: "Be brief.",
    });
    for (const prompt of ["What is 25 + 17?", "Bye!"]) {
      await client.query(prompt);
      for await (const _ of client.receiveMessages());
    }
    expect(ids(requests)).toEqual([
      [undefined, 1],
      ["resp_1", 1],
      ["resp_2", 1],
    ]);
    expect(requests[1]?.body).toMatchObject({
      instructions: "Be brief.",
      input: [{ type: "function_call_output", call_id: "call_1", output: "42" }],
    });
  });

  test("another conversation, or a changed one, is sent whole", async () => {
    const { url, requests } = await startResponsesServer([
      stream(message(["One."]), { id: "resp_1" }),
      stream(message(["Two."])),
      stream(message(["Three."])),
    ]);
    const model = responsesModel(url, options);
    const first = { role: "user", content: "Hi" } as const;
    const say = async (...messages: ModelRequest["messages"]) => {
      for await (const _ of model.stream({ messages }));
    };
    await say(first);
    await say({ ...first, content: "Ho" }, { role: "assistant", content: "One." }, first);
    await say(first, { role: "assistant", content: "Won." }, first);
    expect(ids(requests)).toEqual([
      [undefined, 1],
      [undefined, 3],
      [undefined, 3],
    ]);
  });

  test("a response that the server has lost is replaced by the whole conversation", async () => {
    const lost = JSON.stringify({ error: { code: "previous_response_not_found", message: "Gone." } });
    const { url, requests } = await startResponsesServer([
      stream(message(["One."]), { id: "resp_1" }),
      (response) => response.writeHead(404).end(lost),
      stream(message(["Two."]), { id: "resp_2" }),
    ]);
    const client = new Client({ model: responsesModel(url, options) });
    for (const prompt of ["Hi", "Again"]) {
      await client.query(prompt);
      for await (const _ of client.receiveMessages());
    }
    expect(client.result?.text).toBe("Two.");
    expect(ids(requests)).toEqual([
      [undefined, 1],
      ["resp_1", 1],
      [undefined, 3],
    ]);
  });
});
