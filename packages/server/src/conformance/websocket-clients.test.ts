import { Agent, tool, withResponsesWebSocketSession } from "@openai/agents";
import type { ResponseInputItem } from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { openaiClient } from "./testkit/openai-clients.ts";
import { socketFlaws, type Wire } from "./testkit/socket-client.ts";
import { serverTools, start, type TestServer } from "./testkit/start.ts";

const add = {
  type: "function" as const,
  name: "add",
  description: "Adds.",
  parameters: z.toJSONSchema(z.object({ a: z.number(), b: z.number() })),
  strict: true,
};

const calls = { name: "add", input: { a: 2, b: 3 } };

describe("the openai package over WebSocket", () => {
  function connect(server: TestServer) {
    const socket = new ResponsesWS(openaiClient(server));
    onTestFinished(() => socket.close());
    return socket;
  }

  /** Reads to the end of a response. */
  async function answer(events: AsyncIterator<Wire>): Promise<{ events: Wire[]; last: Wire }> {
    const seen: Wire[] = [];
    for (;;) {
      const { value } = await events.next();
      if (value.type === "error") throw value.error;
      if (value.type !== "message") continue;
      seen.push(value.message);
      if (/^response\.(?:completed|incomplete|failed)$/.test(value.message.type))
        return { events: seen, last: value.message };
    }
  }

  test.each([true, false])("works on a task with tools, with store: %s", async (store) => {
    const server = await start({
      script: [{ calls: [{ name: "clock", input: { city: "Rome" } }, calls] }, "It is 5 at noon."],
      tools: serverTools,
    });
    const socket = connect(server);
    const stream = socket.stream();
    socket.send({ type: "response.create", model: "test", input: "Work!", tools: [add], store });
    const first = await answer(stream);
    expect(socketFlaws(first.events)).toEqual([]);
    const { id, output } = first.last.response;
    const { call_id } = output.find(({ type }: Wire) => type === "function_call");
    const input: ResponseInputItem[] = [{ type: "function_call_output", call_id, output: "5" }];
    socket.send({
      type: "response.create",
      model: "test",
      input,
      previous_response_id: id,
      tools: [add],
      store,
    });
    const second = await answer(stream);
    expect(socketFlaws(second.events)).toEqual([]);
    expect(second.last.response.output.at(-1).content[0].text).toBe("It is 5 at noon.");
    server.model.assertUsedUp();
  });

  test("tells errors as errors, and goes on", async () => {
    const server = await start({ script: "Hello." });
    const socket = connect(server);
    const stream = socket.stream();
    socket.send({ type: "response.create", model: "nobody", input: "Hi" });
    await expect(answer(stream)).rejects.toThrow(/nobody/);
    socket.send({ type: "response.create", model: "test", input: "Hi" });
    expect((await answer(stream)).last.response.status).toBe("completed");
  });
});

describe("@openai/agents over WebSocket", () => {
  test.each([false, true])("runs its tools, streamed: %s", async (isStreamed) => {
    const server = await start({ script: [{ calls: [calls] }, "The sum is 5."] });
    const ran: unknown[] = [];
    const agent = new Agent({
      name: "Tester",
      model: "test",
      tools: [
        tool({
          name: "add",
          description: "Adds.",
          parameters: z.object({ a: z.number(), b: z.number() }),
          execute: ({ a, b }) => {
            ran.push([a, b]);
            return String(a + b);
          },
        }),
      ],
    });
    const text = await withResponsesWebSocketSession(
      async ({ run }) => {
        if (!isStreamed) return (await run(agent, "Work!")).finalOutput;
        const result = await run(agent, "Work!", { stream: true });
        const types = new Set<string>();
        for await (const { type } of result) types.add(type);
        expect(types).toContain("raw_model_stream_event");
        await result.completed;
        return result.finalOutput;
      },
      {
        providerOptions: { apiKey: "none", baseURL: server.baseURL },
        runnerConfig: { tracingDisabled: true },
      },
    );
    expect([text, ran]).toEqual(["The sum is 5.", [[2, 3]]]);
    // All has come over one connection.
    const metrics = await (await fetch(server.baseURL.replace("/v1", "/metrics"))).text();
    expect(metrics.match(/rondo_http_requests_total\{.*/g)).toEqual([
      'rondo_http_requests_total{route="/v1/responses",method="GET",status="101"} 1',
    ]);
    server.model.assertUsedUp();
  });
});
