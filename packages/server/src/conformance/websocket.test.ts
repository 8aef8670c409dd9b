import { once } from "node:events";
import { request } from "node:http";
import { tool } from "rondo";
import { describe, expect, onTestFinished, test } from "vitest";
import { hashKey } from "../http/auth-keys.ts";
import { errorFlaws, eventOf, SocketClient, socketFlaws } from "./testkit/socket-client.ts";
import { type StartOptions, serverTools, start, type TestServer } from "./testkit/start.ts";

async function connect(options: StartOptions, headers: Record<string, string> = {}) {
  const server = await start(options);
  const client = await SocketClient.open(server.baseURL, { headers });
  onTestFinished(() => client.socket.terminate());
  return { server, client };
}

async function statusOf({ baseURL, fetch }: TestServer, id: string): Promise<unknown> {
  const answer = await fetch(`${baseURL}/responses/${id}`);
  return ((await answer.json()) as { status: unknown }).status;
}

/** A tool that waits until it is let go, or nobody waits for it any more. */
function gated() {
  const gate = Promise.withResolvers<unknown>();
  const wait = tool("wait", "Waits.", {}, (_input, { signal }) =>
    Promise.race([gate.promise, once(signal, "abort")]),
  );
  return { gate, wait };
}

const ask = { model: "test", input: "Hi" };
const unstored = { ...ask, store: false };
const shell = {
  type: "function",
  name: "shell",
  parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
};

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

describe("one response at a time", () => {
  test("a second request is refused, and the first one goes on", async () => {
    const { gate, wait } = gated();
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
    const { wait } = gated();
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
    const { wait } = gated();
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
      const { wait } = gated();
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
    const { gate, wait } = gated();
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

describe("what is not stored", () => {
  test("can be followed on the same connection, tool calls and all", async () => {
    const { client, server } = await connect({
      script: [{ thinking: "Hm.", calls: [{ name: "shell", input: { command: "ls" } }] }, "README", "Bye."],
    });
    const first = await client.ask({ ...unstored, tools: [shell] });
    const [, call] = first.response.output;
    const output = { type: "function_call_output", call_id: call.call_id, output: "README" };
    const second = await client.ask({
      ...unstored,
      tools: [shell],
      input: [output],
      previous_response_id: first.response.id,
    });
    expect(second.response).toMatchObject({ status: "completed", previous_response_id: first.response.id });
    await client.ask({ ...unstored, previous_response_id: second.response.id });
    expect(server.model.requests[2]?.messages).toMatchObject([
      { role: "user", content: "Hi" },
      { role: "assistant", reasoning: "Hm.", tool_calls: [{ function: { name: "shell" } }] },
      { role: "tool", content: "README" },
      { role: "assistant", content: "README" },
      { role: "user", content: "Hi" },
    ]);
    const kept = await server.fetch(`${server.baseURL}/responses/${first.response.id}`);
    expect(kept.status).toBe(404);
  });

  test("is not known on another connection", async () => {
    const { client, server } = await connect({ script: "Hello." });
    const { response } = await client.ask(unstored);
    client.close();
    const other = await SocketClient.open(server.baseURL);
    onTestFinished(() => other.socket.terminate());
    const { last } = await other.ask({ ...unstored, previous_response_id: response.id });
    expect(errorFlaws(last)).toEqual([]);
    expect(last).toMatchObject({
      status: 404,
      error: { code: "previous_response_not_found", param: "previous_response_id" },
    });
  });

  test.each([
    ["the model fails", {}],
    ["the request is wrong", { temperature: "hot" }],
  ])("is forgotten when a request that follows it fails: %s", async (_name, wrong) => {
    const { client } = await connect({
      script: [
        "Hello.",
        () => {
          throw new Error("The model is ill.");
        },
      ],
    });
    const { response } = await client.ask(unstored);
    const next = { ...unstored, previous_response_id: response.id };
    expect((await client.ask({ ...next, ...wrong })).last.type).toMatch(/error|response\.failed/);
    expect((await client.ask(next)).last).toMatchObject({ error: { code: "previous_response_not_found" } });
  });

  test("is kept as part of a response that is stored and follows it", async () => {
    const { client, server } = await connect({ script: ["One.", "Two.", "Three."] });
    const first = await client.ask(unstored);
    const second = await client.ask({ ...ask, previous_response_id: first.response.id });
    const other = await SocketClient.open(server.baseURL);
    onTestFinished(() => other.socket.terminate());
    expect((await other.ask({ ...ask, previous_response_id: second.response.id })).last.type).toBe(
      "response.completed",
    );
    expect(server.model.requests[2]?.messages).toHaveLength(5);
  });

  test("is forgotten when there is too much of it", async () => {
    const { client } = await connect({ script: () => "Yes.", config: { webSocket: { keptResponses: 2 } } });
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push((await client.ask(unstored)).response.id);
    const follow = (id?: string) => client.ask({ ...unstored, previous_response_id: id });
    expect((await follow(ids[0])).last).toMatchObject({ error: { code: "previous_response_not_found" } });
    expect((await follow(ids[2])).last.type).toBe("response.completed");
  });

  test("has the rounds of the run when it is continued", async () => {
    const clock = { name: "clock", input: { city: "Rome" } };
    const { client, server } = await connect({
      script: [
        { calls: [clock] },
        { calls: [clock, clock] },
        { calls: [{ name: "shell", input: { command: "ls" } }] },
        "Done.",
      ],
      tools: serverTools,
    });
    const { response } = await client.ask({ ...unstored, tools: [shell] });
    const { call_id } = response.output.at(-1);
    await client.ask({
      ...unstored,
      input: [{ type: "function_call_output", call_id, output: "a b" }],
      previous_response_id: response.id,
      tools: [shell],
    });
    const messages = server.model.requests.at(-1)?.messages ?? [];
    expect(messages.map((it) => (it.role === "assistant" ? it.tool_calls?.length : it.role))).toEqual([
      "user",
      1,
      "tool",
      2,
      "tool",
      "tool",
      1,
      "tool",
    ]);
  });
});

describe("a warm-up", () => {
  test.each([
    ["generate: false", { generate: false }],
    ["a cache option", { prompt_cache_options: { prewarm: true } }],
  ])("is complete at once, and can be followed: %s", async (_name, how) => {
    const { client, server } = await connect({ script: "Hello." });
    const warm = await client.ask({ ...unstored, instructions: "Be short.", ...how });
    expect(warm.events.map(({ type }) => type)).toEqual(["response.created", "response.completed"]);
    expect(warm.response).toMatchObject({ status: "completed", output: [], usage: { total_tokens: 0 } });
    expect(server.model.requests).toHaveLength(0);
    const { last } = await client.ask({
      ...unstored,
      input: [{ role: "user", content: "Again" }],
      previous_response_id: warm.response.id,
    });
    expect(last.type).toBe("response.completed");
    expect(server.model.requests[0]?.messages).toEqual([
      { role: "user", content: "Hi" },
      { role: "user", content: "Again" },
    ]);
  });

  test("needs no input, and may bring tools", async () => {
    const { client, server } = await connect({ script: "Hello." });
    const warm = await client.ask({
      model: "test",
      store: false,
      generate: false,
      input: [{ type: "additional_tools", role: "developer", tools: [shell] }],
    });
    await client.ask({ ...unstored, previous_response_id: warm.response.id });
    expect(server.model.requests[0]?.tools).toMatchObject([{ function: { name: "shell" } }]);
    expect((await client.ask({ model: "test", generate: false })).last.type).toBe("response.completed");
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
    const { wait } = gated();
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
    const config = { keepAliveMs: 100, stallMs: 100 };
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
    const { gate, wait } = gated();
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
    const { wait } = gated();
    const { client, server } = await connect({ script: [{ calls: [{ name: "wait" }] }], tools: [wait] });
    client.send({ type: "response.create", ...ask });
    await client.next("response.mcp_call.in_progress");
    const closing = server.close();
    expect((await client.answer()).response.status).toBe("cancelled");
    await client.closed;
    await closing;
  });
});
