// A model server is fast only while the beginning of the prompt does not change: each request to the model begins with
// exactly the bytes of the one before, within a run and from one response to the next.

import { type AnyTool, openaiCompatible, tool } from "rondo";
import { type ServerStep, startModelServer } from "rondo/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { McpExecutor } from "../executor/mcp/mcp-executor.ts";
import { startNotebook } from "../executor/mcp/testkit/notebook-server.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { powerCut } from "../store/testkit/store-around.ts";
import { Conversations } from "./conversations.ts";
import { background, never, plain, type ServiceSetup, startService } from "./testkit/service.ts";
import { add, broken, calls, weather } from "./testkit/tools.ts";

const thinker = { sendReasoning: "reasoning_content" } as const;

async function start(script: readonly ServerStep[] | ServerStep, setup: Partial<ServiceSetup> = {}) {
  const server = await startModelServer(script, { countsPrompts: true });
  onTestFinished(() => server.close());
  const model = openaiCompatible({ baseURL: server.url, model: "test", profile: thinker });
  const service = await startService({ model, tools: [add, broken], ...setup });
  return { server, model, service };
}

type Requests = readonly { readonly body: { messages: readonly object[]; tools?: readonly object[] } }[];

/** What of a request differs from the beginning that the one before had. */
function breaks(requests: Requests): string[] {
  return requests.slice(1).flatMap(({ body }, index) => {
    const before = requests[index]?.body;
    const told = `request ${index + 1}`;
    const changed = (before?.messages ?? []).findIndex(
      (message, at) => JSON.stringify(message) !== JSON.stringify(body.messages[at]),
    );
    return [
      ...(JSON.stringify(before?.tools) === JSON.stringify(body.tools) ? [] : [`${told}: the tools`]),
      ...(changed < 0
        ? []
        : [
            `${told}: message ${changed}: ${JSON.stringify(before?.messages[changed])} became ${JSON.stringify(body.messages[changed])}`,
          ]),
    ];
  });
}

interface Talk {
  /** The inputs of responses, one after the other. */
  readonly inputs: readonly unknown[];
  readonly script: readonly ServerStep[];
  readonly body?: object;
  readonly setup?: Partial<ServiceSetup>;
}

const mistakes = [
  { name: "add", arguments: '{ "a": 1,  "b": "x" }' },
  { name: "add", arguments: "{a: b" },
  { name: "nobody", arguments: '{ "a" : 1 }' },
  { name: "broken", input: {} },
  { name: "add", arguments: '{"b": 2, "a": 1}' },
];

const talks: Record<string, Talk> = {
  "text and thinking": {
    inputs: ["One", "Two", "Three"],
    script: [{ thinking: "Hm.", text: "1" }, { text: "2" }, { thinking: "So.", text: "3" }],
  },
  "tools, also in parallel": {
    inputs: ["Go", "Go on"],
    script: [
      { thinking: "Add.", text: "A moment.", calls: calls("add", "add") },
      { calls: calls("add") },
      { text: "3" },
      { calls: calls("add") },
      { text: "Done." },
    ],
  },
  "calls that cannot run": {
    inputs: ["Go", "Again"],
    script: [{ calls: mistakes }, { text: "Sorry." }, { calls: mistakes.slice(0, 1) }, { text: "Done." }],
  },
  "a limit of rounds": {
    inputs: ["Go", "Go on"],
    script: [{ calls: calls("add") }, { calls: calls("add") }, { text: "Done." }],
    body: { max_agentic_turns: 2 },
  },
  "a limit of calls": {
    inputs: ["Go", "Go on"],
    script: [{ calls: calls("add") }, { calls: calls("add", "add") }, { text: "3" }, { text: "Done." }],
    body: { max_tool_calls: 1 },
    setup: { asksForFinalAnswer: true },
  },
  "a final answer at the limit": {
    inputs: ["Go", "Go on"],
    script: [{ calls: calls("add") }, { calls: calls("add") }, { text: "3" }, { text: "Done." }],
    body: { max_agentic_turns: 2 },
    setup: { asksForFinalAnswer: true },
  },
  images: {
    inputs: [
      [{ role: "user", content: [{ type: "input_image", image_url: "data:image/png;base64,AAAA" }] }],
      "And now?",
    ],
    script: [{ text: "A cat." }, { text: "Still." }],
  },
  "instructions and formats": {
    inputs: ["Go", "Go on"],
    script: [{ text: "{}" }, { text: "{}" }],
    body: { instructions: "Be brief.", text: { format: { type: "json_object" } } },
  },
};

describe("each request to the model begins with the bytes of the one before", () => {
  for (const [name, { inputs, script, body, setup }] of Object.entries(talks)) {
    test(`${name}, in a chain of responses`, async () => {
      const { server, service } = await start(script, setup);
      let previous: string | undefined;
      for (const input of inputs)
        ({ id: previous } = await plain(service, { input, ...body, previous_response_id: previous }));
      expect(breaks(server.requests)).toEqual([]);
      expect(server.requests.length).toBe(script.length);
    });

    test(`${name}, in a conversation`, async () => {
      const store = memoryStore();
      const { server, service } = await start(script, { store, ...setup });
      const { id: conversation } = await new Conversations({ store, limits: { maxItems: 100 } }).create(
        "ada",
        {},
      );
      for (const input of inputs) await plain(service, { input, ...body, conversation });
      expect(breaks(server.requests)).toEqual([]);
    });
  }

  test("calls of the client, with images in their outputs and a message beside them", async () => {
    const { server, service } = await start([
      { calls: calls("weather", "weather") },
      { calls: [...calls("weather"), ...calls("add")] },
      { text: "Sunny." },
      { text: "Bye." },
    ]);
    let previous: string | undefined;
    let input: unknown = "Weather?";
    for (let turn = 0; turn < 4; turn += 1) {
      const response = await plain(service, { input, tools: [weather], previous_response_id: previous });
      previous = response.id;
      const ids = response.output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []));
      const image = { type: "input_image", image_url: "data:image/png;base64,AAAA" };
      input = [
        ...ids.map((call_id) => ({ type: "function_call_output", call_id, output: [image] })),
        { role: "user", content: "Hurry." },
      ];
    }
    expect(breaks(server.requests)).toEqual([]);
  });

  test("approvals, allowed and denied", async () => {
    const notebook = await startNotebook({});
    const mcp = await McpExecutor.create({ servers: {}, allowPrivate: ["127.0.0.1"], onWarning: () => {} });
    onTestFinished(() => mcp.close());
    const pay = { name: "pay", input: { n: 7 } };
    const { server, service } = await start(
      [
        { text: "May I?", calls: [pay] },
        { text: "Paid." },
        { calls: [pay] },
        { text: "Not paid." },
        { calls: [pay] },
        { calls: calls("add") },
        { text: "End." },
        { text: "Bye." },
      ],
      { mcp },
    );
    const tools = [{ type: "mcp", server_label: "notes", server_url: notebook.url }];
    let last = await plain(service, { input: "Go", tools });
    const next = async (input: unknown[]) => {
      last = await plain(service, { input, tools, previous_response_id: last.id });
    };
    const answer = (approve: boolean) => ({
      type: "mcp_approval_response",
      approval_request_id: last.output.find(({ type }) => type === "mcp_approval_request")?.id,
      approve,
    });
    await next([answer(true)]);
    await next([{ role: "user", content: "Again" }]);
    await next([answer(false)]);
    await next([{ role: "user", content: "Once more" }]);
    await next([answer(true)]);
    await next([{ role: "user", content: "Bye" }]);
    expect(server.requests.length).toBe(8);
    expect(breaks(server.requests)).toEqual([]);
  });

  test("a background run that another process continues", async () => {
    let nowMs = 1_000_000;
    const store = memoryStore({ now: () => nowMs });
    const script: ServerStep = ({ body }) => {
      const rounds = body.messages.filter(({ role }: { role: string }) => role === "assistant").length;
      return rounds < 3
        ? { thinking: "Hm.", calls: [{ name: "add", input: { a: rounds, b: 1 } }] }
        : { text: "Done." };
    };
    const power = powerCut(store, { at: 6, isKept: true });
    const { server, model, service } = await start(script, { store: power.store });
    const { id } = await service.enqueue(
      await service.prepare("ada", { model: "test", input: "Go", background: true }),
    );
    await power.isOff;
    nowMs += 1_000_000;
    const second = await startService({ model, tools: [add, broken], store });
    await second.follow("ada", id, -1, { drained: undefined, send: () => {} }, never);
    await background(second, { input: "Again", previous_response_id: id });
    expect(server.requests.length).toBeGreaterThan(4);
    expect(breaks(server.requests)).toEqual([]);
  });
});

test("95 % of the prompt tokens are reused over 50 rounds", async () => {
  const look: AnyTool = tool("look", "Looks.", { n: Number }, ({ n }) => `Page ${n}: ${"words ".repeat(60)}`);
  const rounds = 50;
  const { server, service } = await start(
    ({ body }) => {
      const round = body.messages.filter(({ role }: { role: string }) => role === "tool").length;
      return round % 10 === 9
        ? { text: "That was it." }
        : { thinking: "Next.", calls: [{ name: "look", input: { n: round } }] };
    },
    { tools: [look], maxAgenticTurns: 100 },
  );
  let previous: string | undefined;
  while (server.requests.length < rounds)
    ({ id: previous } = await plain(service, { input: "Go on", previous_response_id: previous }));
  const counts = server.promptCounts.slice(1, rounds);
  const sum = (key: "tokens" | "cachedTokens") => counts.reduce((total, count) => total + count[key], 0);
  expect(sum("cachedTokens") / sum("tokens")).toBeGreaterThan(0.95);
  expect(breaks(server.requests)).toEqual([]);
});
