// How a connection is opened, who may open one, and how it ends.

import { once } from "node:events";
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { hashKey } from "../http/auth-keys.ts";
import { ask, connect, gatedTool, statusOf } from "./testkit/connect-socket.ts";
import { errorFlaws, SocketClient, socketFlaws } from "./testkit/socket-client.ts";
import { start } from "./testkit/start.ts";

describe("a connection", () => {
  test("needs a key, as requests do", async () => {
    const key = "rondo_test_key";
    const config = { auth: { keys: [{ owner: "ada", hash: hashKey(key) }] } };
    const { server, client } = await connect(
      { script: "Hello.", config },
      { authorization: `Bearer ${key}` },
    );
    expect((await client.ask(ask)).response.status).toBe("completed");
    await expect(SocketClient.open(server.baseURL)).rejects.toMatchObject({ status: 401 });
  });

  test.each([
    ["another origin", { origin: "https://evil.example" }, 403],
    ["another host", { host: "evil.example" }, 403],
  ])("is refused to web pages that nobody has let in: %s", async (_name, headers, status) => {
    const server = await start({ script: [] });
    await expect(SocketClient.open(server.baseURL, { headers })).rejects.toMatchObject({ status });
  });

  test("is refused where there is none", async () => {
    const server = await start({ script: [] });
    const elsewhere = server.baseURL.replace("/v1", "/v2");
    await expect(SocketClient.open(elsewhere)).rejects.toMatchObject({ status: 404 });
  });

  test("is refused to a handshake that is wrong, and other upgrades are plain requests", async () => {
    const server = await start({ script: [] });
    const send = async (headers: Record<string, string>) => {
      const outgoing = request(`${server.baseURL}/responses`, {
        headers: { connection: "upgrade", ...headers },
      });
      outgoing.end();
      const [incoming] = await once(outgoing, "response");
      incoming.resume();
      return incoming.statusCode;
    };
    expect(await send({ upgrade: "websocket" })).toBe(400);
    expect(await send({ upgrade: "h2c" })).toBe(200);
  });

  test("ends at its limit, with an error that says why", async () => {
    const { wait } = gatedTool();
    const { client, server } = await connect({
      script: [{ calls: [{ name: "wait" }] }],
      tools: [wait],
      config: { webSocket: { lifeMs: 1000 } },
    });
    client.send({ type: "response.create", ...ask });
    const { response } = await client.next("response.created");
    const last = await client.next("error");
    expect(errorFlaws(last)).toEqual([]);
    expect(last).toMatchObject({ error: { code: "websocket_connection_limit_reached" } });
    expect(last.error.message).toContain("1 seconds");
    expect((await client.closed).code).toBe(1001);
    expect(client.events.at(-1)).toBe(last);
    await expect.poll(() => statusOf(server, response.id)).toBe("cancelled");
  });

  test("that is silent is asked for a sign of life, and cut if there is none", async () => {
    // Long enough for a client that answers on a busy machine.
    const config = { keepAliveMs: 100, stallMs: 1500 };
    const { server, client } = await connect({ script: "Hello.", config });
    const [ping] = await once(client.socket, "ping");
    expect(ping).toHaveLength(0);
    const mute = await SocketClient.open(server.baseURL, { autoPong: false });
    expect((await mute.closed).code).toBe(1006);
    expect((await client.ask(ask)).response.status).toBe("completed");
  });

  test("that is not read for a while loses nothing", async () => {
    const text = Array.from({ length: 100 }, (_, index) => `${index} ${"x".repeat(20_000)}`);
    const { client } = await connect({ script: { text } });
    client.socket.pause();
    client.send({ type: "response.create", ...ask });
    await new Promise((resolve) => setImmediate(resolve));
    client.socket.resume();
    const { events, response } = await client.answer();
    expect(socketFlaws(events)).toEqual([]);
    expect(response.output[0].content[0].text).toBe(text.join(""));
  });

  test("is closed when the server stops: idle ones at once, others after their response", async () => {
    const { gate, wait } = gatedTool();
    const { client, server } = await connect({
      script: [{ calls: [{ name: "wait" }] }, "Done."],
      tools: [wait],
      config: { shutdownMs: 10_000 },
    });
    const idle = await SocketClient.open(server.baseURL);
    client.send({ type: "response.create", ...ask });
    await client.next("response.mcp_call.in_progress");
    const closing = server.close();
    expect((await idle.closed).code).toBe(1001);
    client.send({ type: "response.create", ...ask });
    expect(await client.next("error")).toMatchObject({ status: 503, error: { code: "server_stopping" } });
    gate.resolve("waited");
    expect((await client.answer()).response.status).toBe("completed");
    expect((await client.closed).code).toBe(1001);
    await closing;
  });

  test("that runs longer than the server has time is told, and cut", async () => {
    const { wait } = gatedTool();
    const { client, server } = await connect({ script: [{ calls: [{ name: "wait" }] }], tools: [wait] });
    client.send({ type: "response.create", ...ask });
    await client.next("response.mcp_call.in_progress");
    const closing = server.close();
    expect((await client.answer()).response.status).toBe("cancelled");
    await client.closed;
    await closing;
  });
});
