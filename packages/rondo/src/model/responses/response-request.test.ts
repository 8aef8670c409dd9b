import { describe, expect, test } from "vitest";
import { responsesModel } from "./responses-model.ts";
import { add, ask, hello } from "./testkit/ask-model.ts";
import { message, startResponsesServer, stream } from "./testkit/responses-server.ts";

describe("a request", () => {
  test("has the conversation as items, the tools as functions, and the settings", async () => {
    const { url, requests } = await startResponsesServer([stream(message(["Fine."]))]);
    const schema = { type: "object" } as const;
    await ask(
      `${url}/responses`,
      { apiKey: "secret", headers: { "x-team": "blue" } },
      {
        messages: [
          { role: "system", content: "Be brief." },
          {
            role: "user",
            content: [
              { type: "text", text: "Look:" },
              { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "low" } },
            ],
          },
          {
            role: "assistant",
            content: "So.",
            reasoning: "Hm.",
            tool_calls: [{ id: "c1", type: "function", function: { name: "add", arguments: '{"a":1,' } }],
          },
          { role: "tool", tool_call_id: "c1", name: "add", content: "3" },
          { role: "system", content: "Now in verse." },
        ],
        tools: [add.toOpenAI()],
        toolChoice: { name: "add" },
        output: { name: "sum", schema },
        settings: { temperature: 0.5, topP: 0.9, maxTokens: 100, extraBody: { truncation: "auto" } },
      },
    );
    expect(requests[0]).toMatchObject({
      path: "/v1/responses",
      headers: { authorization: "Bearer secret", "x-team": "blue" },
    });
    expect(requests[0]?.body).toEqual({
      model: "m",
      stream: true,
      store: false,
      instructions: "Be brief.",
      input: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "Look:" },
            { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "low" },
          ],
        },
        { type: "message", role: "assistant", content: "So." },
        { type: "function_call", call_id: "c1", name: "add", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "3" },
        { type: "message", role: "system", content: "Now in verse." },
      ],
      tools: [{ type: "function", ...add.toOpenAI().function, strict: false }],
      tool_choice: { type: "function", name: "add" },
      text: { format: { type: "json_schema", name: "sum", schema, strict: true } },
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      truncation: "auto",
    });
  });

  test("has the instructions of extraBody", async () => {
    const { url, requests } = await startResponsesServer([stream(message(["Hi."]))]);
    const settings = { extraBody: { instructions: "Be brief." } };
    await ask(url, {}, { ...hello, settings });
    expect(requests[0]?.body["instructions"]).toBe("Be brief.");
  });

  test("names no model where none is given, and sends thoughts back where the profile says so", async () => {
    const { url, requests } = await startResponsesServer([stream([])]);
    await ask(
      url,
      { model: undefined, profile: { sendReasoning: "reasoning" } },
      { messages: [...hello.messages, { role: "assistant", content: "", reasoning: "Hm." }] },
    );
    expect(requests[0]?.body).not.toHaveProperty("model");
    expect(requests[0]?.body["input"]).toContainEqual({
      type: "reasoning",
      summary: [{ type: "summary_text", text: "Hm." }],
    });
  });

  test.each([
    ["settings that the API lacks", { settings: { stop: ["."] } }, "settings.stop"],
    ["a choice of no tool", { toolChoice: "required" as const }, "toolChoice"],
    ["no messages", { messages: [] }, "messages"],
  ])("is refused at once with %s", (_, fields, expected) => {
    const model = responsesModel("http://127.0.0.1:1/v1");
    expect(() => model.stream({ ...hello, ...fields })).toThrow(expected);
  });

  test.each([
    ["a URL that is none", () => responsesModel("localhost"), "baseURL"],
    ["an unknown option", () => responsesModel("http://a", { stroe: true } as object), "stroe"],
    [
      "a decision that is no function",
      () => responsesModel("http://a", { approve: true } as object),
      "approve",
    ],
  ])("is not made from %s", (_, make, expected) => {
    expect(make).toThrow(expected);
  });
});
