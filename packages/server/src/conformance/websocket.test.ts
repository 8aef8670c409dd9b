import { tool } from "rondo";
import { describe, expect, test } from "vitest";
import { ask, connect, statusOf } from "./testkit/connect-socket.ts";
import { errorFlaws, socketFlaws } from "./testkit/socket-client.ts";
import { serverTools } from "./testkit/start.ts";

describe("a request over WebSocket", () => {
  test.each([
    ["its fields beside the type", { type: "response.create", ...ask }],
    ["stream: true in it", { type: "response.create", ...ask, stream: true }],
    ["its fields in response", { type: "response.create", response: ask }],
    ["an id of the frame", { type: "response.create", event_id: "event_1", ...ask }],
  ])("is answered with the events of a stream: %s", async (_name, frame) => {
    const { client } = await connect({ script: { thinking: "Hm.", text: ["Hel", "lo."] } });
    client.send(frame);
    const { events, response } = await client.answer();
    expect(socketFlaws(events)).toEqual([]);
    expect(response).toMatchObject({
      status: "completed",
      output: [{ type: "reasoning" }, { type: "message" }],
    });
  });

  test("has the mark of its stream in every event", async () => {
    const { client } = await connect({ script: "Hello." });
    const { events } = await client.ask({ ...ask, stream_id: "lane 1" });
    expect(new Set(events.map((event) => event.stream_id))).toEqual(new Set(["lane 1"]));
    const { last } = await client.ask({ model: "nobody", input: "Hi", stream_id: "lane 2" });
    expect(last).toMatchObject({ type: "error", status: 404, stream_id: "lane 2" });
  });

  test("is stored, and can be followed over HTTP", async () => {
    const { client, server } = await connect({ script: ["One.", "Two."] });
    const { response } = await client.ask(ask);
    const answer = await server.fetch(`${server.baseURL}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...ask, previous_response_id: response.id }),
    });
    expect(answer.status).toBe(200);
    expect(server.model.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  test("that fails is told as over HTTP, and the connection goes on", async () => {
    const { client } = await connect({
      script: [
        () => {
          throw new Error("The model is ill.");
        },
        "Better.",
      ],
    });
    const failed = await client.ask(ask);
    expect(socketFlaws(failed.events)).toEqual([]);
    expect(failed.last.type).toBe("response.failed");
    expect((await client.ask(ask)).response.status).toBe("completed");
  });

  test("runs tools of the server", async () => {
    const { client } = await connect({
      script: [{ calls: [{ name: "clock", input: { city: "Rome" } }] }, "Noon."],
      tools: serverTools,
    });
    const { events, response } = await client.ask(ask);
    expect(socketFlaws(events)).toEqual([]);
    expect(response.output.map(({ type }: { type: string }) => type)).toEqual(["mcp_call", "message"]);
  });

  test("in the background is followed, and goes on when the client leaves", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = tool("slow", "Waits.", {}, async () => {
      await gate.promise;
      return "done";
    });
    const { client, server } = await connect({
      script: [{ calls: [{ name: "slow" }] }, "Done."],
      tools: [slow],
    });
    client.send({ type: "response.create", ...ask, background: true });
    const { response } = await client.next("response.created");
    await client.next("response.mcp_call.in_progress");
    client.close();
    await client.closed;
    gate.resolve();
    await expect.poll(() => statusOf(server, response.id)).toBe("completed");
  });

  test("is cancelled when its client leaves", async () => {
    const aborted = Promise.withResolvers<void>();
    const wait = tool("wait", "Waits.", {}, async (_input, { signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      await aborted.promise;
    });
    const { client, server } = await connect({ script: [{ calls: [{ name: "wait" }] }], tools: [wait] });
    client.send({ type: "response.create", ...ask });
    const { response } = await client.next("response.created");
    await client.next("response.mcp_call.in_progress");
    client.socket.terminate();
    await aborted.promise;
    await expect.poll(() => statusOf(server, response.id)).toBe("cancelled");
  });
});

describe("a wrong frame", () => {
  test.each([
    ["no JSON", "{", "invalid_json"],
    ["nothing", "", "invalid_json"],
    ["no object", "[]", "invalid_request"],
    ["no type", "{}", "unknown_frame_type"],
    ["another type", { type: "session.update" }, "unknown_frame_type"],
    ["a wrong body", { type: "response.create", response: 5 }, "invalid_request"],
    ["a wrong field", { type: "response.create", input: 5 }, "invalid_request"],
    ["a wrong switch", { type: "response.create", ...ask, generate: "no" }, "invalid_request"],
    ["an unknown model", { type: "response.create", model: "nobody", input: "Hi" }, "model_not_found"],
  ])("is told with a reason, and the connection stays: %s", async (_name, frame, code) => {
    const { client } = await connect({ script: "Hello." });
    client.send(frame);
    const event = await client.next();
    expect(errorFlaws(event)).toEqual([]);
    expect(event.error.code).toBe(code);
    client.send({ type: "response.processed", response_id: "resp_1" });
    expect((await client.ask(ask)).response.status).toBe("completed");
  });

  test("that is too large closes the connection, as the protocol has it", async () => {
    const { client } = await connect({ script: [], config: { limits: { bodyBytes: 1000 } } });
    client.send({ type: "response.create", input: "x".repeat(2000) });
    expect((await client.closed).code).toBe(1009);
  });
});
