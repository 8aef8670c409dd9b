// A response that waits for its client: `completed` for OpenAI's SDKs, which parse arguments only there, and
// `requires_action` for all others and in the store.

import { zodResponsesFunction } from "openai/helpers/zod";
import { ResponsesWS } from "openai/resources/responses/ws";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { openaiClient } from "./testkit/openai-clients.ts";
import { SocketClient, type Wire } from "./testkit/socket-client.ts";
import { type StartOptions, start } from "./testkit/start.ts";

const add = zodResponsesFunction({ name: "add", parameters: z.object({ a: z.number(), b: z.number() }) });
const call = { calls: [{ name: "add", input: { a: 2, b: 3 } }] };
const ask = { model: "test", input: "Add!", tools: [add] };
const tools = [{ type: "function", name: "add", parameters: { type: "object" } }];

async function begin(config?: StartOptions["config"]) {
  const server = await start({ script: () => call, config });
  const get = async (path: string, init?: RequestInit): Promise<Wire> =>
    (await server.fetch(`${server.baseURL}${path}`, init)).json();
  const post = (body: object) =>
    get("/responses", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "test", input: "Add!", tools, ...body }),
    });
  return { server, openai: openaiClient(server), get, post };
}

describe("the helpers of openai", () => {
  test("parse has parsed arguments", async () => {
    const { openai } = await begin();
    const { status, output } = await openai.responses.parse(ask);
    expect(status).toBe("completed");
    expect(output).toMatchObject([{ type: "function_call", parsed_arguments: { a: 2, b: 3 } }]);
  });

  test("stream has parsed arguments", async () => {
    const { openai } = await begin();
    const { status, output } = await openai.responses.stream(ask).finalResponse();
    expect(status).toBe("completed");
    expect(output).toMatchObject([{ type: "function_call", parsed_arguments: { a: 2, b: 3 } }]);
  });

  test("see requires_action where the server says so to all", async () => {
    const { openai } = await begin({ compat: { requiresActionStatus: true } });
    const { status, output } = await openai.responses.parse(ask);
    expect(status).toBe("requires_action");
    expect(output).toMatchObject([{ parsed_arguments: null }]);
  });
});

describe("a stored response that waits", () => {
  test("is read, listed and followed by each client as it knows it", async () => {
    const { server, openai, get, post } = await begin();
    const { id } = await post({ background: true });
    const followed = await openai.responses.retrieve(id, { stream: true });
    let last: Wire;
    for await (const event of followed) last = event;
    expect(last.response.status).toBe("completed");
    const text = await (await server.fetch(`${server.baseURL}/responses/${id}?stream=true`)).text();
    expect(text).toContain('"status":"requires_action"');

    expect((await openai.responses.retrieve(id)).status).toBe("completed");
    expect((await openai.responses.cancel(id)).status).toBe("completed");
    expect((await get(`/responses/${id}`)).status).toBe("requires_action");

    // The filters are about what is stored.
    const listed = async (query: string) =>
      (await get(`/responses${query}`)).data.map(({ status }: Wire) => status);
    expect(await listed("?status=requires_action")).toEqual(["requires_action"]);
    expect(await listed("?status=completed")).toEqual([]);
    const list = await openai.get<Wire>("/responses", {
      query: { status: "requires_action" },
    });
    expect(list.data).toMatchObject([{ id, status: "completed" }]);
  });

  test("is counted as requires_action, whoever asked", async () => {
    const { server, openai, post } = await begin();
    await openai.responses.create(ask);
    await post({});
    const metrics = await (await fetch(server.baseURL.replace("/v1", "/metrics"))).text();
    expect(metrics.match(/^rondo_runs_total.*/gm)).toEqual([
      expect.stringMatching(/status="requires_action".* 2$/),
    ]);
  });

  test("is repeated as the client that repeats the request knows it", async () => {
    const { openai, get, post } = await begin();
    const headers = { "Idempotency-Key": "k" };
    const first = await openai.responses.create(ask, { headers });
    expect(first.status).toBe("completed");
    const again = await openai.responses.create(ask, { headers });
    expect([again.id, again.status]).toEqual([first.id, "completed"]);
    expect((await get(`/responses/${first.id}`)).status).toBe("requires_action");
    expect((await post({})).status).toBe("requires_action");
  });
});

describe("over WebSocket", () => {
  test("the package openai sees completed, another client requires_action", async () => {
    const { server, openai } = await begin();
    const socket = new ResponsesWS(openai);
    onTestFinished(() => socket.close());
    const ended = new Promise<Wire>((resolve) => socket.on("response.completed", resolve));
    socket.send({ type: "response.create", model: "test", input: "Add!", tools: [add] });
    expect((await ended).response.status).toBe("completed");

    const other = await SocketClient.open(server.baseURL);
    onTestFinished(() => other.socket.terminate());
    const { response } = await other.ask({ model: "test", input: "Add!", tools });
    expect(response.status).toBe("requires_action");
  });
});
