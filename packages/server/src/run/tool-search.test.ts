// More tools than a model can take, and `tool_search` as clients of the API know it.

import { type AnyTool, tool } from "rondo";
import { describe, expect, test } from "vitest";
import { flawsOf } from "../conformance/testkit/public-schema.ts";
import { startScripted } from "./testkit/scripted.ts";
import { plain, stream } from "./testkit/service.ts";

const many: AnyTool[] = Array.from({ length: 80 }, (_, number) =>
  tool(
    {
      name: `tool_${number}`,
      description: number === 42 ? "Sends a letter by pigeon." : `Does thing ${number}.`,
      input: { n: Number },
      registry: false,
    },
    async ({ n }) => `${number}: ${n}`,
  ),
);
const search = { calls: [{ name: "tool_search", input: { query: "letter by pigeon" } }] };
const found = { calls: [{ name: "call_tool", input: { name: "tool_42", arguments: { n: 7 } } }] };
const namesOf = (tools: readonly { function: { name: string } }[] = []) =>
  tools.map((it) => it.function.name);
const pigeon = {
  type: "function",
  name: "pigeon",
  description: "Sends a letter by pigeon.",
  parameters: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  defer_loading: true,
};
const lamp = { type: "function", name: "lamp", description: "Turns on a lamp.", parameters: {} };

function expectStable(requests: readonly { messages: readonly unknown[]; tools?: readonly unknown[] }[]) {
  for (const [index, { messages, tools }] of requests.entries()) {
    const before = requests[index - 1];
    expect(messages.slice(0, before?.messages.length ?? 0)).toMatchObject(
      (before?.messages ?? []).map((message) => ({ content: (message as { content: string }).content })),
    );
    expect(tools).toEqual(requests[0]?.tools);
  }
}

test("tools of the server are found and called under their own names", async () => {
  const { service, model } = await startScripted([search, found, "Sent.", found, "Again."], { tools: many });
  const first = await plain(service, { input: "Send a letter" });
  expect(first.output).toMatchObject([
    { type: "mcp_call", server_label: "local", name: "tool_search" },
    { type: "mcp_call", server_label: "local", name: "tool_42", arguments: '{"n":7}', output: "42: 7" },
    { type: "message" },
  ]);
  await plain(service, { input: "And another", previous_response_id: first.id });
  expect(model.requests.map(({ tools }) => namesOf(tools))).toEqual(
    Array.from({ length: 5 }, () => ["tool_search", "call_tool"]),
  );
  expectStable(model.requests);
});

describe("a request with tool_search", () => {
  const call = { calls: [{ name: "call_tool", input: { name: "pigeon", arguments: { to: "Ada" } } }] };

  test("has its deferred functions found by the server, in items of the API", async () => {
    const { service, model } = await startScripted([search, call, "Sent."], { tools: [] });
    const tools = [{ type: "tool_search" }, lamp, pigeon];
    const { response, events } = await stream(service, { input: "Send a letter", tools });
    expect(events.flatMap((event) => flawsOf("ResponseStreamEvent", event))).toEqual([]);
    const [asked] = response.output;
    expect(response.output).toMatchObject([
      {
        type: "tool_search_call",
        execution: "server",
        arguments: { query: "letter by pigeon" },
        status: "completed",
      },
      {
        type: "tool_search_output",
        execution: "server",
        call_id: (asked as { call_id?: string } | undefined)?.call_id,
        tools: [{ type: "function", name: "pigeon" }],
      },
      { type: "function_call", name: "pigeon", arguments: '{"to":"Ada"}' },
    ]);
    const id = (response.output[2] as { call_id?: string }).call_id;
    const input = [{ type: "function_call_output", call_id: id, output: "sent" }];
    await plain(service, { input, tools, previous_response_id: response.id });
    expect(model.requests.map((request) => namesOf(request.tools))).toEqual(
      Array.from({ length: 3 }, () => ["lamp", "tool_search", "call_tool"]),
    );
    expectStable(model.requests);
  });

  test("can be searched by the client, whose tools are called then", async () => {
    const { service, model } = await startScripted([search, call, "Sent."], { tools: [] });
    const { defer_loading: _, ...loaded } = pigeon;
    const tools = [{ type: "tool_search", execution: "client", description: "Finds." }, lamp];
    const first = await plain(service, { input: "Send a letter", tools });
    expect(first).toMatchObject({
      status: "requires_action",
      output: [{ type: "tool_search_call", execution: "client", arguments: { query: "letter by pigeon" } }],
    });
    const id = (first.output[0] as { call_id?: string }).call_id;
    const second = await plain(service, {
      input: [
        {
          type: "tool_search_output",
          call_id: id,
          execution: "client",
          status: "completed",
          tools: [loaded],
        },
      ],
      tools,
      previous_response_id: first.id,
    });
    expect(second.output).toMatchObject([
      { type: "function_call", name: "pigeon", arguments: '{"to":"Ada"}' },
    ]);
    const called = (second.output[0] as { call_id?: string }).call_id;
    const input = [{ type: "function_call_output", call_id: called, output: "sent" }];
    const third = await plain(service, { input, tools, previous_response_id: second.id });
    expect(third.status).toBe("completed");
    expect(model.requests.map((request) => namesOf(request.tools))).toEqual(
      Array.from({ length: 3 }, () => ["tool_search", "lamp", "call_tool"]),
    );
    expect(model.requests[1]?.messages.at(-1)?.content).toContain('"name":"pigeon"');
    expectStable(model.requests);
  });

  test("without deferred tools offers all as they are", async () => {
    const { service, model } = await startScripted(["Hello."], { tools: [] });
    await plain(service, { input: "Hi", tools: [{ type: "tool_search" }, lamp] });
    expect(namesOf(model.requests[0]?.tools)).toEqual(["lamp"]);
  });
});
