// Clients that keep their history themselves and leave out what the server did: Codex, opencode, Copilot.

import { type JsonObject, type Message, tool } from "rondo";
import type { ScriptedStep } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { callItems } from "../executor/call-items.ts";
import type { OutputItem } from "../protocol/items.ts";
import { memoryStore } from "../store/testkit/memory.ts";
import { storeAround } from "../store/testkit/store-around.ts";
import { startScripted } from "./testkit/scripted.ts";
import { plain, stream } from "./testkit/service.ts";
import { calls, weather } from "./testkit/tools.ts";

/** What a client sends back of an output. */
type Habit = (item: JsonObject) => JsonObject[];

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

const dropsServerItems: Habit = (item) => (textOf(item["type"]).startsWith("mcp_") ? [] : [item]);

/** As observed, with the versions of docs/compatibility.md. */
const habits: Record<string, { body: JsonObject; sendsBack: Habit }> = {
  Codex: {
    body: { store: false, include: ["reasoning.encrypted_content"] },
    sendsBack: (item) => dropsServerItems(item),
  },
  opencode: {
    body: { store: false, include: ["reasoning.encrypted_content"] },
    sendsBack: (item) =>
      dropsServerItems(item).map(({ type, role, content, call_id, name, arguments: text, ...rest }) => {
        if (type === "message") return { role, content } as JsonObject;
        if (type === "function_call") return { type, call_id, name, arguments: text } as JsonObject;
        return { type, encrypted_content: rest["encrypted_content"], summary: [] } as JsonObject;
      }),
  },
  "Copilot in one process": {
    body: { store: false, include: ["reasoning.encrypted_content"] },
    sendsBack: (item) =>
      dropsServerItems(item).map((it) => {
        if (it["type"] === "message") return { ...it, id: "msg_144ac4fa-ba14-91e3-89d9-bf59cf3328b6" };
        return it["type"] === "function_call" ? { ...it, id: `fc_${textOf(it["call_id"])}` } : it;
      }),
  },
  "a client of stored responses": { body: {}, sendsBack: dropsServerItems },
  "a client that keeps only the ids of calls": {
    body: {},
    sendsBack: (item) => dropsServerItems(item).map(({ id: _id, ...rest }) => rest),
  },
  "a client that sends all items back": { body: {}, sendsBack: (item) => [item] },
  "a client that sends all items and thoughts back": {
    body: { store: false, include: ["reasoning.encrypted_content"] },
    sendsBack: (item) => [item],
  },
  "a client that sends calls of the server back without ids": {
    body: { store: false, include: ["reasoning.encrypted_content"] },
    sendsBack: ({ id: _id, ...rest }) => [rest],
  },
};

/** Each round: a call of the server, then one of the client with text before it. */
const round: readonly ScriptedStep[] = [
  { calls: calls("add") },
  { text: "Now the weather.", calls: calls("weather") },
  "Done.",
];

const inMessages = (messages: readonly Message[]) =>
  messages.map(({ role, content, ...rest }) => {
    const named = "tool_calls" in rest ? rest.tool_calls?.map(({ function: { name } }) => name) : undefined;
    return `${role}: ${textOf(content)}${named ? ` [${named.join(" ")}]` : ""}`;
  });

const oneRound = [
  "user: Go",
  "assistant:  [add]",
  "tool: 3",
  "assistant: Now the weather. [weather]",
  "tool: Sunny",
  "assistant: Done.",
];

describe.each(Object.entries(habits))("%s", (_name, { body, sendsBack }) => {
  test("gives the model what the server did, over three rounds", async () => {
    const { service, model } = await startScripted([...round, ...round, ...round]);
    const history: JsonObject[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      history.push({ type: "message", role: "user", content: "Go" });
      for (let request = 0; request < 2; request += 1) {
        const { response } = await stream(service, { ...body, tools: [weather], input: history });
        const output = response.output as unknown as JsonObject[];
        history.push(...output.flatMap(sendsBack));
        for (const item of output)
          if (item["type"] === "function_call")
            history.push({
              type: "function_call_output",
              call_id: item["call_id"],
              output: "Sunny",
            } as JsonObject);
      }
    }
    expect(inMessages(model.requests.at(-1)?.messages ?? [])).toEqual(
      [...oneRound, ...oneRound, ...oneRound].slice(0, -1),
    );
  });
});

const countedItems = callItems("acme.counted_call");

const carried = { store: false, include: ["reasoning.encrypted_content"] };

/** The output of a response without what the server did, and the next message. */
const goOn = (output: readonly OutputItem[]) => [
  { role: "user", content: "Go" },
  ...(output as unknown as JsonObject[]).flatMap(dropsServerItems),
  { role: "user", content: "And?" },
];

describe("calls of the server in a thought", () => {
  test("belong to the answer of the client's calls that follow", async () => {
    const { service, model } = await startScripted([
      { text: "Both.", calls: calls("add", "weather") },
      "Done.",
    ]);
    const { output } = await plain(service, { ...carried, tools: [weather], input: "Go" });
    const [call] = output.filter((item) => item.type === "function_call");
    const input = [
      { role: "user", content: "Go" },
      ...(output as unknown as JsonObject[]).flatMap(dropsServerItems),
      { type: "function_call_output", call_id: call?.call_id, output: "Sunny" },
    ];
    await plain(service, { ...carried, tools: [weather], input });
    expect(inMessages(model.requests[1]?.messages ?? [])).toEqual([
      "user: Go",
      "assistant: Both. [add weather]",
      "tool: 3",
      "tool: Sunny",
    ]);
  });

  test("are there once for each round, also where the model thinks", async () => {
    const { service, model } = await startScripted([
      { thinking: "Hm.", calls: calls("add") },
      { thinking: "Hm again.", calls: calls("add") },
      { thinking: "Well.", text: "3." },
      "4.",
    ]);
    const { output } = await plain(service, { ...carried, input: "Go" });
    await plain(service, { ...carried, input: goOn(output) });
    expect(inMessages(model.requests.at(-1)?.messages ?? [])).toEqual([
      "user: Go",
      "assistant:  [add]",
      "tool: 3",
      "assistant:  [add]",
      "tool: 3",
      "assistant: 3.",
      "user: And?",
    ]);
  });

  test("are there too where the run ended with them", async () => {
    const { service, model } = await startScripted([{ calls: calls("add") }, "3."], { maxAgenticTurns: 1 });
    const { output, status } = await plain(service, { ...carried, input: "Go" });
    expect(status).toBe("incomplete");
    await plain(service, { ...carried, input: goOn(output) });
    expect(inMessages(model.requests.at(-1)?.messages ?? [])).toContain(
      "tool: limit reached: this call was not run",
    );
  });

  test("mean nothing to another owner", async () => {
    const { service, model } = await startScripted([{ calls: calls("add") }, "3.", "What?"]);
    const { output } = await plain(service, { ...carried, input: "Go" });
    await plain(service, { ...carried, input: goOn(output) }, "bob");
    expect(inMessages(model.requests.at(-1)?.messages ?? [])).toEqual([
      "user: Go",
      "assistant: 3.",
      "user: And?",
    ]);
  });

  test("are left out of responses that are stored, and of those that did not ask for sealed thoughts", async () => {
    const { service } = await startScripted([{ calls: calls("add") }, "3.", { calls: calls("add") }, "3."]);
    const stored = await plain(service, { ...carried, store: true, input: "Go" });
    const open = await plain(service, { store: false, input: "Go" });
    expect([...stored.output, ...open.output].map(({ type }) => type)).toEqual([
      "mcp_call",
      "message",
      "mcp_call",
      "message",
    ]);
  });

  test("have long results cut, so that the client does not send them whole each time", async () => {
    const { service, model } = await startScripted([{ calls: [{ name: "long" }] }, "3.", "4."], {
      executors: [
        {
          kind: "long",
          canExecute: ({ type }) => type === "acme.long",
          describe: () => ({ name: "long", description: "Long.", parameters: {} }),
          execute: async ({ id }) => ({ callId: id, output: "x".repeat(1_000_000) }),
        },
      ],
    });
    const tools = [{ type: "acme.long" }];
    const { output } = await plain(service, { ...carried, tools, input: "Go" });
    expect(JSON.stringify(goOn(output)).length).toBeLessThan(60_000);
    await plain(service, { ...carried, tools, input: goOn(output) });
    const [, , result = ""] = inMessages(model.requests.at(-1)?.messages ?? []);
    expect(result).toMatch(/^tool: x{1000}/);
    expect(result.length).toBeLessThan(33_000);
  });
});

test("a long call of the server that comes back without its id is not there twice", async () => {
  const long = tool({ name: "long", description: "Long.", input: {}, registry: false }, async () =>
    "x".repeat(100_000),
  );
  const { service, model } = await startScripted([{ calls: [{ name: "long" }] }, "3.", "4."], {
    tools: [long],
  });
  const { output } = await plain(service, { ...carried, input: "Go" });
  const sent = (output as unknown as JsonObject[]).map(({ id: _id, ...rest }) => rest);
  await plain(service, { ...carried, input: [...sent, { role: "user", content: "And?" }] });
  expect(model.requests.at(-1)?.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
});

describe("calls of the server in the store", () => {
  test("are read once, however many items follow them", async () => {
    let reads = 0;
    const { service } = await startScripted(
      [{ calls: Array.from({ length: 20 }, () => ({ name: "counted" })) }, "3.", "4."],
      {
        maxRepeats: 100,
        executors: [
          {
            kind: "counted",
            canExecute: ({ type }) => type === "acme.counted",
            describe: () => ({ name: "counted", description: "Counted.", parameters: {} }),
            execute: async ({ id }) => ({ callId: id, output: "x" }),
            items: {
              ...countedItems,
              read: (item) => {
                reads += 1;
                return countedItems.read(item);
              },
            },
          },
        ],
      },
    );
    const tools = [{ type: "acme.counted" }];
    const { output } = await plain(service, { tools, input: "Go" });
    const answer = output.at(-1);
    reads = 0;
    const input = [...Array.from({ length: 500 }, () => answer), { role: "user", content: "And?" }];
    await plain(service, { tools, input });
    expect(reads).toBeLessThan(200);
  });

  test("are put back up to a limit, the newest first", async () => {
    const long = tool({ name: "long", description: "Long.", input: {}, registry: false }, async () =>
      "x".repeat(4_000_000),
    );
    const round: ScriptedStep[] = [{ calls: [{ name: "long" }] }, "Done."];
    const { service, model } = await startScripted([...round, ...round, ...round, "4."], { tools: [long] });
    const input: JsonObject[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const { output } = await plain(service, { input: "Go" });
      input.push(
        { role: "user", content: "Go" },
        ...(output as unknown as JsonObject[]).flatMap(dropsServerItems),
      );
    }
    await plain(service, { input: [...input, { role: "user", content: "And?" }] });
    const roles = model.requests.at(-1)?.messages.map(({ role }) => role) ?? [];
    expect(roles.slice(0, 3)).toEqual(["user", "assistant", "user"]);
    expect(roles.filter((role) => role === "tool")).toHaveLength(2);
  });

  test("are not given to another owner who has the ids", async () => {
    const { service, model } = await startScripted([{ calls: calls("add") }, "3.", "What?"]);
    const { output } = await plain(service, { input: "Go" });
    await plain(service, { input: goOn(output) }, "bob");
    expect(inMessages(model.requests.at(-1)?.messages ?? [])).not.toContain("tool: 3");
  });

  test("are part of the stored input, so that later responses have them too", async () => {
    const { service, model } = await startScripted([{ calls: calls("add") }, "3.", "4.", "5."]);
    const { output } = await plain(service, { input: "Go" });
    const { id } = await plain(service, { input: goOn(output) });
    await plain(service, { previous_response_id: id, input: "More?" });
    expect(inMessages(model.requests.at(-1)?.messages ?? []).filter((it) => it === "tool: 3")).toHaveLength(
      1,
    );
  });

  test("are not looked for where the server ran none", async () => {
    const looked: unknown[] = [];
    const store = storeAround(memoryStore(), (method, call, args) => {
      if (method === "output") looked.push(args);
      return call();
    });
    const { service } = await startScripted(["Hello.", "Well."], { store });
    const { output } = await plain(service, { input: "Go" });
    await plain(service, { input: goOn(output) });
    expect(looked).toEqual([]);
  });
});
