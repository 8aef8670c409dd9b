// Completions and embeddings: passed through to a model server.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { hashKey } from "../http/auth-keys.ts";
import { openaiClient } from "./testkit/openai-clients.ts";
import { type StartOptions, start } from "./testkit/start.ts";

/** A model server that writes down what it is sent, and a server in front of it. */
async function passing(config: StartOptions["config"] = {}) {
  const seen: { path: string | undefined; key: string | undefined; body: string }[] = [];
  const upstream = createServer((incoming, outgoing) => void reply(incoming, outgoing));
  const reply = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { url: path, headers } = incoming;
    const body = await text(incoming);
    seen.push({ path, key: headers.authorization, body });
    if (path === "/v1/embeddings") {
      const data = [{ object: "embedding", index: 0, embedding: [0.5, 1e-9] }];
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(JSON.stringify({ object: "list", model: "inner", data, usage: {} }));
    } else if (path === "/v1/completions" && body.includes('"stream"')) {
      outgoing.setHeader("content-type", "text/event-stream");
      const chunk = (words: string) =>
        JSON.stringify({ object: "text_completion", choices: [{ text: words }] });
      outgoing.end(`data: ${chunk("Once ")}\n\ndata: ${chunk("more.")}\n\ndata: [DONE]\n\n`);
    } else if (path === "/v1/completions") {
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(JSON.stringify({ object: "text_completion", choices: [{ text: "Once." }] }));
    } else outgoing.writeHead(404).end();
  };
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  onTestFinished(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const server = await start({
    script: "Hello.",
    config: {
      models: { outer: { url, model: "inner", apiKey: "sk-upstream" }, same: { url, model: "same" } },
      ...config,
    },
  });
  return { server, client: openaiClient(server), seen };
}

test("embeddings are asked of the model's server under its name and with its key", async () => {
  const { client, seen } = await passing();
  const { data } = await client.embeddings.create({ model: "outer", input: "Hi", encoding_format: "float" });
  expect(data[0]?.embedding).toEqual([0.5, 1e-9]);
  expect(seen).toMatchObject([{ path: "/v1/embeddings", key: "Bearer sk-upstream" }]);
  expect(JSON.parse(seen[0]?.body ?? "")).toEqual({ model: "inner", input: "Hi", encoding_format: "float" });
});

test.each(["embeddings", "completions"])(
  "a model with the same name there gets %s as they came",
  async (path) => {
    const { server, seen } = await passing();
    const body = ' {"model":"same", "input":"Hi","prompt" :"Hi", "exact":1.0000000000000000001}';
    const headers = { "content-type": "application/json" };
    const reply = await fetch(`${server.baseURL}/${path}`, { method: "POST", headers, body });
    expect(reply.status).toBe(200);
    expect(seen).toMatchObject([{ body }]);
  },
);

test("completions are answered plain and streamed", async () => {
  const { client, seen } = await passing();
  const plain = await client.completions.create({ model: "outer", prompt: "Tell" });
  expect(plain.choices[0]?.text).toBe("Once.");
  let streamed = "";
  for await (const chunk of await client.completions.create({ model: "outer", prompt: "Tell", stream: true }))
    streamed += chunk.choices[0]?.text;
  expect(streamed).toBe("Once more.");
  expect(seen.map(({ path }) => path)).toEqual(["/v1/completions", "/v1/completions"]);
});

test("a key is needed where the server needs one, and limits hold", async () => {
  const auth = { keys: [{ owner: "ada", hash: hashKey("secret") }] };
  const { server, seen } = await passing({ auth, limits: { bodyBytes: 1000 } });
  const post = (path: string, input: string, key: string) =>
    server.fetch(`${server.baseURL}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "outer", input }),
    });
  for (const path of ["embeddings", "completions"]) {
    expect((await post(path, "Hi", "wrong")).status).toBe(401);
    expect((await post(path, "x".repeat(2000), "secret")).status).toBe(413);
  }
  expect(seen).toEqual([]);
});

test("an unknown model is a 404, a model that is code a 400 that says what it can", async () => {
  const { client } = await passing();
  await expect(client.embeddings.create({ model: "nobody", input: "Hi" })).rejects.toMatchObject({
    status: 404,
    code: "model_not_found",
  });
  const other = openaiClient(await start({ script: [] }));
  await expect(other.embeddings.create({ model: "test", input: "Hi" })).rejects.toMatchObject({
    status: 400,
    code: "unsupported_endpoint",
    message: expect.stringContaining("/v1/responses and /v1/chat/completions"),
  });
});
