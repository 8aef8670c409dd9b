// A connection has one response at a time: a second request is refused, and `response.cancel` ends the one that runs.

import { describe, expect, onTestFinished, test } from "vitest";
import { ask, connect, gatedTool, statusOf } from "./testkit/connect-socket.ts";
import { errorFlaws, eventOf, SocketClient, socketFlaws } from "./testkit/socket-client.ts";

describe("one response at a time", () => {
  test("a second request is refused, and the first one goes on", async () => {
    const { gate, wait } = gatedTool();
    const { client } = await connect({ script: [{ calls: [{ name: "wait" }] }, "Done."], tools: [wait] });
    client.send({ type: "response.create", ...ask });
    await client.next("response.mcp_call.in_progress");
    client.send({ type: "response.create", ...ask, stream_id: "second" });
    const refused = await client.next("error");
    expect(errorFlaws(refused)).toEqual([]);
    expect(refused).toMatchObject({
      status: 409,
      error: { code: "response_in_progress" },
      stream_id: "second",
    });
    gate.resolve("waited");
    expect((await client.answer()).response.status).toBe("completed");
    expect(socketFlaws(client.events.filter(({ type }) => type !== "error"))).toEqual([]);
  });

  test("one that comes right after the end is answered", async () => {
    const { client } = await connect({ script: () => "Yes." });
    client.socket.on("message", (data) => {
      const { type } = eventOf(data);
      if (type === "response.completed" && client.events.length < 200)
        client.send({ type: "response.create", ...ask });
    });
    client.send({ type: "response.create", ...ask });
    await expect.poll(() => client.events.length).toBeGreaterThanOrEqual(200);
    expect(client.events.filter(({ type }) => type === "error")).toEqual([]);
  });

  test("response.cancel ends the one that runs, and only that", async () => {
    const { wait } = gatedTool();
    const { client } = await connect({ script: [{ calls: [{ name: "wait" }] }, "Next."], tools: [wait] });
    client.send({ type: "response.cancel" });
    expect(await client.next()).toMatchObject({ type: "error", error: { code: "response_not_found" } });
    client.send({ type: "response.create", ...ask });
    await client.next("response.mcp_call.in_progress");
    client.send({ type: "response.cancel", response_id: "resp_other" });
    expect(await client.next("error")).toMatchObject({ error: { code: "response_not_found" } });
    client.send({ type: "response.cancel" });
    const { last } = await client.answer();
    expect(last).toMatchObject({ type: "response.incomplete", response: { status: "cancelled" } });
    expect((await client.ask(ask)).response.status).toBe("completed");
  });

  test("response.cancel ends one in the background too", async () => {
    const { wait } = gatedTool();
    const { client } = await connect({ script: [{ calls: [{ name: "wait" }] }], tools: [wait] });
    client.send({ type: "response.create", ...ask, background: true });
    const { response } = await client.next("response.created");
    await client.next("response.mcp_call.in_progress");
    client.send({ type: "response.cancel", response_id: response.id });
    expect((await client.answer()).response.status).toBe("cancelled");
  });

  test.for([false, true])(
    "response.cancel ends one that has not begun yet (background: %s)",
    async (background) => {
      const { wait } = gatedTool();
      const { client, server } = await connect({
        script: [{ calls: [{ name: "wait" }] }, "Next."],
        tools: [wait],
      });
      client.send({ type: "response.create", ...ask, background });
      client.send({ type: "response.cancel" });
      const { events, response } = await client.answer();
      expect(socketFlaws(events)).toEqual([]);
      expect(response.status).toBe("cancelled");
      expect(await statusOf(server, response.id)).toBe("cancelled");
    },
  );

  test("response.cancel ends one that waits for its turn in a conversation", async () => {
    const { gate, wait } = gatedTool();
    const { client, server } = await connect({
      script: [{ calls: [{ name: "wait" }] }, "Done.", "Next."],
      tools: [wait],
    });
    const made = await server.fetch(`${server.baseURL}/conversations`, { method: "POST" });
    const { id: conversation } = (await made.json()) as { id: string };
    client.send({ type: "response.create", ...ask, conversation });
    await client.next("response.mcp_call.in_progress");

    const other = await SocketClient.open(server.baseURL);
    onTestFinished(() => other.socket.terminate());
    other.send({ type: "response.create", ...ask, conversation, stream_id: "waiting" });
    other.send({ type: "response.cancel" });
    const { last } = await other.answer();
    expect(errorFlaws(last)).toEqual([]);
    expect(last).toMatchObject({ error: { code: "response_cancelled" }, stream_id: "waiting" });

    gate.resolve("waited");
    expect((await client.answer()).response.status).toBe("completed");
    expect((await other.ask({ ...ask, conversation })).response.status).toBe("completed");
    expect(server.model.requests).toHaveLength(3);
  });
});
