// The model's server is asked for a stream only where someone reads along.
import { openaiCompatible, tool } from "rondo";
import { startModelServer } from "rondo/testing";
import { expect, test } from "vitest";
import { start } from "./testkit/start.ts";

test.each([
  ["plain", { store: false }, false],
  ["plain and stored", {}, false],
  ["streamed", { stream: true }, true],
  ["in the background", { background: true, stream: true }, true],
])("a response that is %s: the model's server is asked with stream %o", async (_, more, stream) => {
  await using upstream = await startModelServer([{ text: ["Hel", "lo"] }]);
  const model = openaiCompatible({ baseURL: upstream.url, model: "m", retry: false });
  const server = await start({ script: [], config: { models: { test: model } } });
  const answer = await server.fetch(`${server.baseURL}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "test", input: "Hi.", ...more }),
  });
  expect(await answer.text()).toContain('"text":"Hello"');
  expect(upstream.requests[0]?.body.stream).toBe(stream);
});

test("each answer of an agentic run may be whole, and its client leaves it at once", async () => {
  const silent = { waitFor: new Promise(() => {}) };
  await using upstream = await startModelServer([{ calls: [{ name: "clock", input: {} }] }, silent]);
  const model = openaiCompatible({ baseURL: upstream.url, model: "m", retry: false });
  const clock = tool(
    { name: "clock", description: "Tells the time.", input: {}, registry: false },
    async () => "noon",
  );
  const server = await start({ script: [], config: { models: { test: model }, tools: [clock] } });
  const client = new AbortController();
  const answer = server.fetch(`${server.baseURL}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "test", input: "What time is it?" }),
    signal: client.signal,
  });
  const second = await upstream.request(1);
  expect(upstream.requests.map(({ body }) => body.stream)).toEqual([false, false]);
  expect(second.body.messages.at(-1)).toMatchObject({ role: "tool", content: "noon" });
  client.abort();
  await expect(answer).rejects.toMatchObject({ name: "AbortError" });
  await second.closed;
  expect(second.wasLeft).toBe(true);
});
