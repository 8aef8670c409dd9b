// Whatever one server made, another one with the same PostgreSQL knows. `front` works on no background runs, `back` does.

import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startNotebook } from "../executor/mcp/testkit/notebook-server.ts";
import type { RunningServer } from "../http/server.ts";
import { testDatabase } from "../store/postgres/testkit/test-database.ts";
import { Gates, roundRobin, startNode } from "./testkit/nodes.ts";
import { SocketClient, type Wire } from "./testkit/socket-client.ts";

const gates = new Gates();
let store: string;
let front: RunningServer;
let back: RunningServer;

beforeAll(async () => {
  store = await testDatabase();
  // At the same time, on an empty database.
  [front, back] = await Promise.all([
    startNode({ store, gates, config: { runs: { enabled: false } } }),
    startNode({ store, gates }),
  ]);
});
afterAll(() => Promise.all([front, back].map((node) => node?.close())));

async function send(
  node: { url: string },
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Wire; headers: Headers }> {
  const response = await fetch(`${node.url}/v1${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === "" ? undefined : JSON.parse(text),
    headers: response.headers,
  };
}

const create = async (node: { url: string }, body: object, headers?: Record<string, string>) =>
  (await send(node, "POST", "/responses", { model: "test", ...body }, headers)).body;
const textOf = (response: Wire): string => response.output.at(-1)?.content?.[0]?.text;
const openai = (node: { url: string }) =>
  new OpenAI({ baseURL: `${node.url}/v1`, apiKey: "none", maxRetries: 0 });

/** The events of a response, followed on a node. */
async function follow(node: { url: string }, id: string, after?: number): Promise<Wire[]> {
  const query = { stream: true, ...(after !== undefined && { starting_after: after }) } as const;
  const events: Wire[] = [];
  for await (const event of await openai(node).responses.retrieve(id, query)) events.push(event);
  return events;
}

describe("what one server made is on another", () => {
  test("read, listed, continued and deleted", async () => {
    const first = await create(front, { input: "say one" });
    expect((await send(back, "GET", `/responses/${first.id}`)).body).toEqual(first);
    const items = await send(back, "GET", `/responses/${first.id}/input_items`);
    expect(items.body.data).toMatchObject([{ role: "user" }]);
    const second = await create(back, { input: "count", previous_response_id: first.id });
    expect(textOf(second)).toBe("3");
    const listed = await send(front, "GET", "/responses?limit=2&order=desc");
    expect(listed.body.data.map(({ id }: Wire) => id)).toEqual([second.id, first.id]);
    expect((await send(front, "DELETE", `/responses/${second.id}`)).body).toMatchObject({ deleted: true });
    expect((await send(back, "GET", `/responses/${second.id}`)).status).toBe(404);
  });

  test("a background run, which works on one and is followed on the other, from any event", async () => {
    const queued = await create(front, { input: "wait follow", background: true });
    expect(queued.status).toBe("queued");
    await gates.reached("follow");
    const live = follow(front, queued.id);
    gates.open("follow");
    const events = await live;
    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)).toMatchObject({ type: "response.completed" });
    expect(textOf(events.at(-1).response)).toBe("Waiting … done.");
    expect(await follow(back, queued.id, 3)).toEqual(events.slice(4));
    expect((await send(front, "GET", `/responses/${queued.id}`)).body.status).toBe("completed");
  });

  test("a run that is cancelled there", async () => {
    const { id } = await create(front, { input: "wait cancel", background: true });
    await gates.reached("cancel");
    const followed = follow(back, id);
    expect((await send(front, "POST", `/responses/${id}/cancel`)).status).toBe(200);
    expect((await followed).at(-1)?.type).toBe("response.incomplete");
    expect((await send(back, "GET", `/responses/${id}`)).body.status).toBe("cancelled");
    gates.open("cancel");
  });

  test("a run that is deleted there", async () => {
    const { id } = await create(front, { input: "wait delete", background: true });
    await gates.reached("delete");
    // Followed before it is deleted: afterwards there is nothing to follow.
    const followed = await openai(back).responses.retrieve(id, { stream: true });
    expect((await send(front, "DELETE", `/responses/${id}`)).status).toBe(200);
    const types = (await Array.fromAsync(followed)).map(({ type }) => type);
    expect(types.filter((type) => /completed|incomplete|failed/.test(type))).toEqual([]);
    expect((await send(back, "GET", `/responses/${id}`)).status).toBe(404);
    gates.open("delete");
  });

  test("a conversation, in which one run works at a time over all servers, in order", async () => {
    const { body: conversation } = await send(back, "POST", "/conversations", {
      items: [{ role: "user", content: "Hi." }],
      metadata: { topic: "nodes" },
    });
    expect((await send(front, "GET", `/conversations/${conversation.id}`)).body).toEqual(conversation);
    const inIt = (node: RunningServer, input: string, more: object = {}) =>
      create(node, { input, conversation: conversation.id, ...more });
    const slow = inIt(front, "wait turns");
    await gates.reached("turns");
    const queued = await inIt(front, "say second", { background: true });
    const third = inIt(back, "count");
    gates.open("turns");
    expect(textOf(await slow)).toBe("Waiting … done.");
    // Hi., wait, its answer, say second, second, count
    expect(textOf(await third)).toBe("6");
    expect((await send(front, "GET", `/responses/${queued.id}`)).body.status).toBe("completed");
    const { body: items } = await send(back, "GET", `/conversations/${conversation.id}/items?order=asc`);
    const texts = items.data.map((item: Wire) => item.content?.[0]?.text ?? item.content);
    expect(texts).toEqual(["Hi.", "wait turns", "Waiting … done.", "say second", "second", "count", "6"]);
  });

  test("a call of the client's function, answered elsewhere", async () => {
    const tools = [{ type: "function", name: "door", parameters: { type: "object", properties: {} } }];
    const asked = await create(front, { input: "call door {}", tools });
    const call = asked.output.find(({ type }: Wire) => type === "function_call");
    const answer = { type: "function_call_output", call_id: call.call_id, output: "open" };
    const done = await create(back, { input: [answer], previous_response_id: asked.id, tools });
    expect(textOf(done)).toBe("The tool says open.");
  });

  test("a call of the server's tool, in a run that begins elsewhere", async () => {
    const { id } = await create(front, { input: 'call clock {"city":"Rome"}', background: true });
    const events = await follow(front, id);
    expect(textOf(events.at(-1).response)).toBe("The tool says 12:00 in Rome.");
  });

  test("a call that a person allows elsewhere", async () => {
    const notebook = await startNotebook();
    const tools = [
      { type: "mcp", server_label: "notes", server_url: notebook.url, require_approval: "always" },
    ];
    const asked = await create(front, { input: 'call look {"n":1}', tools });
    const request = asked.output.at(-1);
    expect(request.type).toBe("mcp_approval_request");
    const answer = { type: "mcp_approval_response", approval_request_id: request.id, approve: true };
    const allowed = { input: [answer], previous_response_id: asked.id, tools, background: true };
    const { id } = await create(front, allowed);
    const events = await follow(front, id);
    expect(textOf(events.at(-1).response)).toBe("The tool says look 1 done.");
    expect(notebook.calls).toHaveLength(1);
  });

  test("sealed thinking and compactions", async () => {
    const thought = await create(front, {
      input: "think hard",
      store: false,
      include: ["reasoning.encrypted_content"],
    });
    const sealed = thought.output.find(({ type }: Wire) => type === "reasoning");
    expect(sealed.encrypted_content).toEqual(expect.any(String));
    const input = [
      { role: "user", content: "think hard" },
      ...thought.output,
      { role: "user", content: "count" },
    ];
    expect(textOf(await create(back, { input, store: false }))).toBe("3");
    const long = await create(back, { input: "say something" });
    const { body: compacted } = await send(front, "POST", "/responses/compact", {
      model: "test",
      previous_response_id: long.id,
    });
    const next = await create(back, { input: [...compacted.output, { role: "user", content: "say on" }] });
    expect(textOf(next)).toBe("on");
  });

  test("a WebSocket continues it", async () => {
    const first = await create(back, { input: "say one" });
    const socket = await SocketClient.open(`${front.url}/v1`);
    const { response } = await socket.ask({ model: "test", input: "count", previous_response_id: first.id });
    expect(textOf(response)).toBe("3");
    const background = await socket.ask({ model: "test", input: "say far", background: true });
    expect(textOf(background.response)).toBe("far");
    socket.close();
    expect((await send(back, "GET", `/responses/${background.response.id}`)).body.status).toBe("completed");
  });

  test("an Idempotency-Key: the same request runs once, and waits for the first", async () => {
    const headers = { "idempotency-key": "one-order" };
    const first = create(front, { input: "wait key" }, headers);
    await gates.reached("key");
    const again = create(back, { input: "wait key" }, headers);
    gates.open("key");
    expect(await again).toEqual(await first);
    const other = await send(back, "POST", "/responses", { model: "test", input: "say x" }, headers);
    expect(other).toMatchObject({ status: 422, body: { error: { code: "idempotency_key_reused" } } });
  });

  test("a file", async ({ skip }) => {
    const form = new FormData();
    form.set("purpose", "user_data");
    form.set("file", new Blob(["a,b\n1,2\n"]), "data.csv");
    const uploaded = (await (
      await fetch(`${front.url}/v1/files`, { method: "POST", body: form })
    ).json()) as Wire;
    if (uploaded.error?.code === "files_unsupported") skip("This store keeps no files.");
    const content = await fetch(`${back.url}/v1/files/${uploaded.id}/content`);
    expect(await content.text()).toBe("a,b\n1,2\n");
  });
});

test("the limit of waiting runs holds for all servers together", async () => {
  const url = await testDatabase();
  const config = { runs: { enabled: false }, limits: { waitingRunsPerOwner: 3 } };
  const nodes = await Promise.all([
    startNode({ store: url, gates, config }),
    startNode({ store: url, gates, config }),
  ]);
  try {
    const [one, two] = nodes;
    for (const node of [one, two, one]) await create(node, { input: "say x", background: true });
    const refused = await send(two, "POST", "/responses", {
      model: "test",
      input: "say x",
      background: true,
    });
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "too_many_requests" } } });
    expect(refused.headers.get("retry-after")).not.toBeNull();
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
  }
});

test("behind a load balancer without sticky sessions, every request may go elsewhere", async () => {
  await using balancer = await roundRobin([front.url, back.url]);
  const client = openai(balancer);
  const conversation = await client.conversations.create();
  let previous: string | undefined;
  for (let turn = 0; turn < 6; turn += 1) {
    const { id } = await client.responses.create(
      { model: "test", input: "count", previous_response_id: previous ?? null, background: turn % 2 === 1 },
      { headers: { connection: "close" } },
    );
    const events = turn % 2 === 1 ? await follow(balancer, id) : [];
    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, index) => index));
    const { output_text: text } = await client.responses.retrieve(id);
    expect(text).toBe(String(turn * 2 + 1));
    previous = id;
  }
  await client.responses.create({ model: "test", input: "say in it", conversation: conversation.id });
  const items = await client.conversations.items.list(conversation.id);
  expect(items.data).toHaveLength(2);
});
