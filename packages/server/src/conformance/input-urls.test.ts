import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import type { ConfigInput } from "../config/schema.ts";
import { serveNode } from "../http/testkit/raw-http.ts";
import { SocketClient } from "./testkit/socket-client.ts";
import { start, type TestServer } from "./testkit/start.ts";

const url = "http://169.254.169.254/latest/meta-data/";
const input = [{ role: "user", content: [{ type: "input_image", image_url: url }] }];
const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];

function post(server: TestServer, path: string, body: object | string): Promise<Response> {
  return fetch(`${server.baseURL}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

test.each([
  ["/responses", { model: "test", input }, "input[0].content[0].image_url"],
  ["/responses/input_tokens", { model: "test", input }, "input[0].content[0].image_url"],
  ["/responses/compact", { model: "test", input }, "input[0].content[0].image_url"],
  ["/conversations", { items: input }, "items[0].content[0].image_url"],
  ["/chat/completions", { model: "test", messages }, "messages[0].content[0].image_url.url"],
])("%s refuses the URL of a private host", async (path, body, param) => {
  const server = await start({ script: [] });
  const answer = await post(server, path, body);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: "url_not_allowed", param } });
});

test("so does a WebSocket, and items that are added to a conversation", async () => {
  const server = await start({ script: [] });
  const client = await SocketClient.open(server.baseURL);
  onTestFinished(() => client.socket.terminate());
  const { last } = await client.ask({ model: "test", input });
  expect(last).toMatchObject({ status: 400, error: { code: "url_not_allowed" } });
  const { id } = (await (await post(server, "/conversations", {})).json()) as { id: string };
  expect((await post(server, `/conversations/${id}/items`, { items: input })).status).toBe(400);
});

test.each([
  [{ type: "image", image: url }],
  [{ type: "image", source: { type: "url", url } }],
  [{ type: "image_url", image_url: [url] }],
  [{ type: "image_url", Image_URL: { URL: url } }],
  [{ type: "input_audio", input_audio: { data: ` ${url}` } }],
  [{ type: "video", video: "file:///etc/passwd" }],
  [{ imageUrl: url }],
])("a chat request is refused with one in a part that only the model server may know: %j", async (part) => {
  const { received, server } = await passing();
  const body = { model: "same", messages: [{ role: "user", content: [{ type: "text", text: url }, part] }] };
  const answer = await post(server, "/chat/completions", body);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    error: { code: "url_not_allowed", param: expect.stringMatching(/^messages\[0\]\.content\[1\]/) },
  });
  expect(received).toEqual([]);
});

test("the config allows it", async () => {
  const config: ConfigInput = { urls: { allowPrivate: ["169.254.169.254"] } };
  const server = await start({ script: ["A picture.", "A picture."], config });
  expect((await post(server, "/responses", { model: "test", input })).status).toBe(200);
  expect((await post(server, "/chat/completions", { model: "test", messages })).status).toBe(200);
  expect((await post(server, "/conversations", { items: input })).status).toBe(200);
});

/** A server in front of a model server that knows the model by the same name, and what that has got. */
async function passing() {
  const received: string[] = [];
  const upstream = await serveNode((request, response) => {
    const answer = (body: string) => {
      received.push(body);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    };
    void text(request).then(answer);
  });
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const config: ConfigInput = { models: { same: { url: `http://127.0.0.1:${upstream.port}/v1` } } };
  return { received, server: await start({ script: [], config }) };
}

test.each([
  ["image_url", '"image_url"', '"image_url"'],
  ["escaped", '"\\u0069mage_url"', '"image_url"'],
  ["of another kind of part", '"image"', '"image"'],
])(
  "a chat request in which a URL hides behind a key that comes twice is passed on as it was read: %s",
  async (_name, key, last) => {
    const { received, server } = await passing();
    const hidden = `{ ${key}: "${url}", ${last}: "https://example.org/a.png" }`;
    const body = `{ "model": "same", "messages": [{ "role": "user", "content": [${hidden}] }] }`;
    expect((await post(server, "/chat/completions", body)).status).toBe(200);
    expect(received).toEqual([JSON.stringify(JSON.parse(body))]);
    expect(received[0]).not.toContain("169.254");
  },
);

test("a chat request that is nested too deeply is refused", async () => {
  const { server } = await passing();
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const answer = await post(server, "/chat/completions", `{"model":"same","messages":${deep}}`);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { param: "messages" } });
});

test("the name of a model has a length", async () => {
  const { server } = await passing();
  for (const path of ["/chat/completions", "/responses"]) {
    const answer = await post(server, path, { model: "m".repeat(257), input: "Hi", messages });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param: "model" } });
  }
});
