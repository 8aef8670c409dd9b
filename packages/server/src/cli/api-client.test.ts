import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { resolveConfig } from "../config/check-config.ts";
import { startServer } from "../http/server.ts";
import { createApiClient } from "./api-client.ts";

async function serve(script: Parameters<typeof scriptedModel>[0]) {
  const models = { test: scriptedModel(script, { name: "test" }) };
  const server = await startServer(
    resolveConfig({ port: 0, store: "memory", models, log: { level: "silent" }, shutdownMs: 0 }),
  );
  onTestFinished(() => server.close());
  return createApiClient({ baseUrl: server.url });
}

/** A server that answers everything with the same. */
async function answering(body: string, type: string, status = 200) {
  const server = createServer((_, response) => {
    response.writeHead(status, { "content-type": type, location: "http://127.0.0.1:9/" }).end(body);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return createApiClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

test("makes responses, gets and lists them", async () => {
  const api = await serve(["One.", "Two."]);
  const events = await collect(api.create({ input: "Hi" }));
  expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { status: "completed" } });
  await collect(api.create({ input: "Hi", model: "test" }));
  const newest = await api.list(1);
  expect(newest).toHaveLength(1);
  expect(await api.get(newest[0]?.id ?? "")).toEqual(newest[0]);
});

test("follows a response in the background from any event, and cancels it", async () => {
  const api = await serve([{ text: ["Once upon", new Promise(() => {})] }]);
  let id = "";
  for await (const event of api.create({ input: "Hi", background: true })) {
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_text.delta") break;
  }
  const following = collect(api.follow(id, 2));
  expect(await api.cancel(id)).toMatchObject({ id, status: "cancelled" });
  const events = await following;
  expect(events[0]?.sequence_number).toBe(3);
  expect(events.at(-1)).toMatchObject({ response: { status: "cancelled" } });
  expect((await collect(api.follow(id, -1)))[0]?.sequence_number).toBe(0);
});

test("leaving the loop, or the signal, ends the request", async () => {
  const model = scriptedModel({ text: ["Once upon", new Promise(() => {})] }, { name: "test" });
  const server = await startServer(
    resolveConfig({ port: 0, store: "memory", models: { model }, log: { level: "silent" }, shutdownMs: 0 }),
  );
  onTestFinished(() => server.close());
  const api = createApiClient({ baseUrl: `${server.url}/v1/` });
  for await (const { type } of api.create({ input: "Hi" })) if (type.endsWith(".delta")) break;
  await (await model.request(0)).ended;
  const controller = new AbortController();
  const read = async () => {
    for await (const { type } of api.create({ input: "Hi" }, controller.signal))
      if (type.endsWith(".delta")) controller.abort(new Error("enough"));
  };
  await expect(read()).rejects.toThrow("enough");
  await (await model.request(1)).ended;
});

describe("reports that", () => {
  test("nobody answers", async () => {
    const server = await startServer(resolveConfig({ port: 0, store: "memory", log: { level: "silent" } }));
    await server.close();
    await expect(createApiClient({ baseUrl: server.url }).list(1)).rejects.toThrow(
      `No server answers at ${server.url}/v1: the connection was refused. Start one with \`rondo serve\``,
    );
  });

  test("the URL is invalid", () => {
    expect(() => createApiClient({ baseUrl: "localhost:4500" })).toThrow("such as http://127.0.0.1:4500");
  });

  test.each([
    ["a web page", "<html></html>", "text/html", 200, "got a web page"],
    ["a web page that says no", "<html></html>", "text/html", 404, "got a web page"],
    ["other JSON", "{}", "application/json", 200, "got something else"],
    ["a redirect", "", "text/plain", 302, "got something else"],
  ])("%s came", async (_, body, type, status, expected) => {
    const api = await answering(body, type, status);
    await expect(collect(api.create({ input: "Hi" }))).rejects.toThrow(expected);
  });

  test.each([
    ["broke off", 'data: {"type":"keepalive","sequence_number":0}\n\n'],
    ["is not to be read", "data: {broken\n\n"],
  ])("a stream %s", async (_, body) => {
    const api = await answering(body, "text/event-stream");
    await expect(collect(api.create({ input: "Hi" }))).rejects.toThrow("broke off: ");
  });

  test("a response does not exist", async () => {
    const api = await serve([]);
    await expect(api.get("resp_none")).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining("resp_none"),
    });
  });
});
