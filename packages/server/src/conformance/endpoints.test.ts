import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type OpenAI from "openai";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { framesOf } from "./testkit/frames.ts";
import { openaiClient } from "./testkit/openai-clients.ts";
import { serverTools, start, type TestServer } from "./testkit/start.ts";

const model = "test";

// The rest of the API, as the `openai` package asks for it. All that it is sent is held against the public schema.
describe.each(["memory", "sqlite"] as const)("with the store %s", (store) => {
  describe("a kept response", () => {
    test("can be read again, with its input", async () => {
      const { server, client } = await started(store, ["Hello."]);
      const made = await client.responses.create({
        model,
        input: "Hi.",
        instructions: "Be kind.",
        metadata: { a: "b" },
      });
      expect(await client.responses.retrieve(made.id)).toEqual(made);
      const { data } = await client.responses.inputItems.list(made.id);
      expect(data).toMatchObject([
        { type: "message", role: "user", content: [{ type: "input_text", text: "Hi." }] },
      ]);
      expect(server.exchanges.flaws()).toEqual([]);
    });

    test("lists every kind of input item as the public schema has it", async () => {
      const { server, client } = await started(store, ["Hello."]);
      const made = await client.responses.create({
        model,
        input: [
          { role: "developer", content: "Be kind." },
          { role: "user", content: [{ type: "input_text", text: "Hi." }] },
          { role: "assistant", content: "Yes?" },
          { type: "function_call", call_id: "c1", name: "add", arguments: "{}" },
          { type: "function_call_output", call_id: "c1", output: "3" },
        ],
      });
      const { data } = await client.responses.inputItems.list(made.id, { order: "asc" });
      expect(data.map(({ type }) => type)).toEqual([
        "message",
        "message",
        "message",
        "function_call",
        "function_call_output",
      ]);
      expect(server.exchanges.flaws()).toEqual([]);
    });

    test("can be deleted, and is then unknown", async () => {
      const { server, client } = await started(store, ["Hello."]);
      const { id } = await client.responses.create({ model, input: "Hi." });
      await client.responses.delete(id);
      await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
      await expect(
        client.responses.create({ model, input: "And?", previous_response_id: id }),
      ).rejects.toMatchObject({ status: 404, code: "previous_response_not_found" });
      expect(server.exchanges.flaws()).toEqual([]);
    });

    test("echoes every option of its request as the public schema has it", async () => {
      const { server, client } = await started(store, ['{"a":1}']);
      const schema = {
        type: "object",
        properties: { a: { type: "number" } },
        required: ["a"],
        additionalProperties: false,
      };
      const body = {
        model,
        input: "Hi.",
        max_output_tokens: 100,
        max_tool_calls: 3,
        parallel_tool_calls: false,
        reasoning: { effort: "low", summary: "auto" },
        safety_identifier: "someone",
        prompt_cache_key: "key",
        service_tier: "auto",
        temperature: 0.5,
        top_p: 0.9,
        truncation: "auto",
        tool_choice: { type: "function", name: "add" },
        tools: [{ type: "function", name: "add", parameters: schema, strict: true }],
        text: { format: { type: "json_schema", name: "a", schema, strict: true }, verbosity: "low" },
      } satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming;
      const { input: _input, tools: _tools, ...echoed } = body;
      expect(await client.responses.create(body)).toMatchObject(echoed);
      expect(server.exchanges.flaws()).toEqual([]);
    });
  });

  test("tools of every kind are echoed as the public schema has them", async () => {
    const { server, client } = await started(store, ["Hello."]);
    const { tools } = await client.responses.create({
      model,
      input: "Hi.",
      tools: [
        { type: "function", name: "add", parameters: null, strict: null },
        { type: "custom", name: "note", description: "Takes notes." },
        { type: "web_search" },
        {
          type: "namespace",
          name: "crm",
          description: "Customers.",
          tools: [{ type: "function", name: "find", parameters: { type: "object", properties: {} } }],
        },
      ],
    });
    expect(tools.map(({ type }) => type)).toEqual(["function", "custom", "web_search", "namespace"]);
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("calls that nobody is to run come back as they are", async () => {
    const { server, client } = await started(store, [{ calls: [{ name: "add", input: { a: 1, b: 2 } }] }]);
    const response = await client.responses.create({
      model,
      input: "Hi.",
      tool_choice: "none",
      tools: [{ type: "function", name: "add", parameters: { type: "object" }, strict: false }],
    });
    expect(response).toMatchObject({ status: "completed", output: [{ type: "function_call", name: "add" }] });
    expect(server.exchanges.flaws()).toEqual([]);
  });

  describe("a background run", () => {
    test("is queued, can be asked for, and ends", async () => {
      const { server, client } = await started(store, [
        { calls: [{ name: "clock", input: { city: "Rome" } }] },
        "Noon.",
      ]);
      const { id, status } = await client.responses.create({ model, input: "When?", background: true });
      expect(status).toBe("queued");
      const ended = await vi.waitFor(async () => {
        const response = await client.responses.retrieve(id);
        expect(response.status).toBe("completed");
        return response;
      });
      expect(ended.output_text).toBe("Noon.");
      expect(server.exchanges.flaws()).toEqual([]);
    });

    test("goes on when its reader leaves, and is read on from where it was", async () => {
      const gate = Promise.withResolvers<void>();
      const { server, client } = await started(store, [{ text: ["No", gate.promise, "on."] }]);
      const first = await client.responses.create({ model, input: "When?", background: true, stream: true });
      let id = "";
      let last = -1;
      for await (const event of first) {
        if (event.type === "response.created") id = event.response.id;
        last = event.sequence_number;
        if (event.type === "response.output_text.delta") break;
      }
      gate.resolve();
      const rest = await client.responses.retrieve(id, { stream: true, starting_after: last });
      const numbers: number[] = [];
      let text = "No";
      for await (const event of rest) {
        numbers.push(event.sequence_number);
        if (event.type === "response.output_text.delta") text += event.delta;
      }
      expect(text).toBe("Noon.");
      expect(numbers[0]).toBe(last + 1);
      const whole = await client.responses.retrieve(id, { stream: true });
      const events = await Array.fromAsync(whole);
      expect(events.map(({ sequence_number: number }) => number).slice(last + 1)).toEqual(numbers);
      // The whole stream has been checked as such; the rest is its tail.
      expect(server.exchanges.flaws().filter((flaw) => !flaw.startsWith("1. "))).toEqual([]);
      const [, tail, all] = server.exchanges.list.map(({ text: sent }) => framesOf(sent, { isCut: true }));
      expect(tail).toEqual(all?.slice(last + 1));
    });

    test("can be cancelled", async () => {
      const { server, client } = await started(store, [{ text: ["No", new Promise(() => {})] }]);
      const { id } = await client.responses.create({ model, input: "When?", background: true });
      await server.model.request(0);
      await client.responses.cancel(id);
      await vi.waitFor(async () => {
        expect(await client.responses.retrieve(id)).toMatchObject({ status: "cancelled" });
      });
      const stream = await client.responses.retrieve(id, { stream: true });
      const types: string[] = [];
      for await (const { type } of stream) types.push(type);
      expect(types.at(-1)).toBe("response.incomplete");
      expect(server.exchanges.flaws()).toEqual([]);
    });
  });

  test("input tokens are counted, and models listed", async () => {
    const { server, client } = await started(store, []);
    expect(await client.responses.inputTokens.count({ model, input: "Hello there." })).toEqual({
      object: "response.input_tokens",
      input_tokens: expect.any(Number),
    });
    const { data } = await client.models.list();
    expect(data).toMatchObject([
      { id: "test", object: "model", created: expect.any(Number), owned_by: expect.any(String) },
    ]);
    expect(server.exchanges.flaws()).toEqual([]);
  });
});

async function started(
  store: "memory" | "sqlite",
  script: Parameters<typeof start>[0]["script"],
): Promise<{ server: TestServer; client: OpenAI }> {
  const config = { store: store === "memory" ? store : `sqlite:${join(await temporaryFolder(), "test.db")}` };
  const server = await start({ script, tools: serverTools, config });
  return { server, client: openaiClient(server) };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "rondo-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
