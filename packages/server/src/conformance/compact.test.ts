// A conversation that is made short with the openai package, and goes on from there.
import OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { openaiClient } from "./testkit/openai-clients.ts";
import { SocketClient, socketFlaws } from "./testkit/socket-client.ts";
import { start } from "./testkit/start.ts";

test("a conversation is compacted, and the sealed item stands for it afterwards", async () => {
  const server = await start({
    script: [
      "Paris.",
      ({ messages }) => {
        expect(messages.at(-1)?.content).toContain("Write a summary");
        return "They asked for the capital of France: Paris.";
      },
      ({ messages }) => {
        expect(messages).toEqual([
          { role: "user", content: "What is the capital of France?" },
          {
            role: "user",
            content: "What was said and done so far, in short:\nThey asked for the capital of France: Paris.",
          },
          { role: "user", content: "And of Italy?" },
        ]);
        return "Rome.";
      },
    ],
  });
  const openai = new OpenAI({ baseURL: server.baseURL, apiKey: "none", maxRetries: 0 });
  const first = await openai.responses.create({ model: "test", input: "What is the capital of France?" });
  const compacted = await openai.responses.compact({ model: "test", previous_response_id: first.id });
  expect(compacted.object).toBe("response.compaction");
  expect(compacted.output.map(({ type }) => type)).toEqual(["message", "compaction"]);
  expect(JSON.stringify(compacted)).not.toContain("Paris");

  const input = [...compacted.output, { role: "user", content: "And of Italy?" }];
  const next = await openai.responses.create({ model: "test", input: input as never });
  expect(next.output_text).toBe("Rome.");

  const changed = compacted.output.map((item) =>
    item.type === "compaction"
      ? { ...item, encrypted_content: item.encrypted_content.replace(/.{8}$/, "AAAAAAAA") }
      : item,
  );
  await expect(openai.responses.create({ model: "test", input: changed as never })).rejects.toMatchObject({
    status: 400,
    code: "invalid_compaction",
  });
});

test.each(["", " \n", { thinking: "Hm." }])("a summary that says nothing is an error: %j", async (answer) => {
  const server = await start({ script: [answer] });
  const openai = new OpenAI({ baseURL: server.baseURL, apiKey: "none", maxRetries: 0 });
  await expect(openai.responses.compact({ model: "test", input: "Hi" })).rejects.toMatchObject({
    status: 502,
    code: "empty_summary",
  });
});

const trigger = { type: "compaction_trigger" as const };
const summary = "They asked for the capital of France: Paris.";
const inShort = `What was said and done so far, in short:\n${summary}`;

describe("a compaction_trigger at the end of the input", () => {
  const history = [
    { role: "user" as const, content: "What is the capital of France?" },
    { role: "assistant" as const, content: "Paris." },
  ];

  test.each([false, true])("gives one compaction item and no answer (streamed: %s)", async (isStreamed) => {
    const server = await start({ script: [summary, "Rome."], config: { compat: { strict: true } } });
    const client = openaiClient(server);
    const body = { model: "test", input: [...history, trigger], store: false };
    const { status, output, usage } = isStreamed
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body);
    expect([status, output.map(({ type }) => type)]).toEqual(["completed", ["compaction"]]);
    expect(usage?.output_tokens).toBeGreaterThan(0);
    expect(JSON.stringify(output)).not.toContain("Paris");
    const input = [history[0], ...output, { role: "user", content: "And of Italy?" }];
    await client.responses.create({ model: "test", input: input as never, store: false });
    expect(server.model.requests[1]?.messages.map(({ content }) => content)).toEqual([
      "What is the capital of France?",
      inShort,
      "And of Italy?",
    ]);
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("compacts a chain, and what follows begins with the summary", async () => {
    const server = await start({ script: ["Paris.", summary, "Rome."] });
    const client = openaiClient(server);
    const first = await client.responses.create({ model: "test", input: "What is the capital of France?" });
    const short = await client.responses.create({
      model: "test",
      input: [trigger],
      previous_response_id: first.id,
    });
    expect(short.output.map(({ type }) => type)).toEqual(["compaction"]);
    await client.responses.create({ model: "test", input: "And of Italy?", previous_response_id: short.id });
    expect(server.model.requests[2]?.messages.map(({ content }) => content)).toEqual([
      "What is the capital of France?",
      inShort,
      "And of Italy?",
    ]);
  });

  test("works over WebSocket with store: false", async () => {
    const server = await start({ script: ["Paris.", summary, "Rome."] });
    const socket = await SocketClient.open(server.baseURL);
    onTestFinished(() => socket.socket.terminate());
    const ask = (body: object) => socket.ask({ model: "test", store: false, ...body });
    const first = await ask({ input: "What is the capital of France?" });
    const short = await ask({ input: [trigger], previous_response_id: first.response.id });
    expect(socketFlaws(short.events)).toEqual([]);
    expect(short.response.output).toMatchObject([{ type: "compaction" }]);
    await ask({ input: "And of Italy?", previous_response_id: short.response.id });
    expect(server.model.requests[2]?.messages.map(({ content }) => content)).toContain(inShort);
  });
});

describe("context_management", () => {
  const long = "What is the capital of France? ".repeat(50);
  const managed = (compact_threshold: number) => ({
    model: "test",
    context_management: [{ type: "compaction", compact_threshold }],
  });

  test.each([false, true])(
    "compacts above the threshold, once, and then answers (streamed: %s)",
    async (isStreamed) => {
      const server = await start({
        script: ["Paris.", summary, "Rome.", "Bern."],
        config: { compat: { strict: true } },
      });
      const client = openaiClient(server);
      const first = await client.responses.create({ ...managed(1000), input: long });
      expect(first.output.map(({ type }) => type)).toEqual(["message"]);
      const body = { ...managed(100), input: "And of Italy?", previous_response_id: first.id };
      const next = isStreamed
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body);
      expect(next.output.map(({ type }) => type)).toEqual(["compaction", "message"]);
      const contents = (at: number) => server.model.requests[at]?.messages.map(({ content }) => content);
      expect(contents(1)?.at(-1)).toContain("Write a summary");
      expect(contents(2)).toEqual([inShort, "And of Italy?"]);
      // Below the threshold again, the next request goes on from the summary.
      const last = await client.responses.create({
        ...managed(100),
        input: "And of Switzerland?",
        previous_response_id: next.id,
      });
      expect(last.output.map(({ type }) => type)).toEqual(["message"]);
      expect(contents(3)).toEqual([inShort, "And of Italy?", "Rome.", "And of Switzerland?"]);
      expect(server.exchanges.flaws()).toEqual([]);
    },
  );

  test("compacts at most once in a request, whatever the summary is", async () => {
    const server = await start({ script: [long, "Paris."] });
    const { output } = await openaiClient(server).responses.create({ ...managed(1), input: "Hi" });
    expect(output.map(({ type }) => type)).toEqual(["compaction", "message"]);
    server.model.assertUsedUp();
  });

  test("fails the response where the model gives no summary", async () => {
    const server = await start({ script: [""] });
    const failed = openaiClient(server).responses.create({ ...managed(1), input: "Hi" });
    await expect(failed).rejects.toMatchObject({ status: 502, code: "empty_summary" });
  });
});
