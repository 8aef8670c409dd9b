import { tool } from "rondo";
import { expect, test } from "vitest";
import { SocketClient } from "./testkit/socket-client.ts";
import { start } from "./testkit/start.ts";

test("background runs of an owner that wait are limited, over HTTP and WebSocket", async () => {
  const gate = Promise.withResolvers<string>();
  const wait = tool("wait", "Waits.", {}, () => gate.promise);
  let asked = 0;
  const server = await start({
    script: () => (asked++ === 0 ? { calls: [{ name: "wait" }] } : "Done."),
    tools: [wait],
    config: { runs: { concurrency: 1 }, limits: { waitingRunsPerOwner: 1 } },
  });
  const body = { model: "test", input: "Hi", background: true };
  const post = () =>
    server.fetch(`${server.baseURL}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const first = (await (await post()).json()) as { id: string };
  const statusOf = async (id: string) =>
    ((await (await server.fetch(`${server.baseURL}/responses/${id}`)).json()) as { status: string }).status;
  await expect.poll(() => statusOf(first.id)).toBe("in_progress");
  expect((await post()).status).toBe(200);
  const refused = await post();
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refused.json()).toMatchObject({ error: { code: "too_many_requests" } });
  const client = await SocketClient.open(server.baseURL);
  expect((await client.ask(body)).last).toMatchObject({
    status: 429,
    error: { code: "too_many_requests" },
  });
  client.socket.terminate();
  gate.resolve("waited");
  await expect.poll(async () => (await post()).status).toBe(200);
});
