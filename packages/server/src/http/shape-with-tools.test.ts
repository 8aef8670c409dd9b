// A shape beside tools, on a server whose grammar for the shape forbids calls: the tools come first, the shape last.

import { tool } from "rondo";
import { startModelServer } from "rondo/testing";
import { expect, test } from "vitest";
import { framesOf } from "../conformance/testkit/frames.ts";
import type { ResponseObject } from "../protocol/response.ts";
import { startServer } from "./server.ts";

const schema = {
  type: "object",
  properties: { sum: { type: "number" } },
  required: ["sum"],
  additionalProperties: false,
};
const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

test.each([false, true])(
  "calls the tool first, and enforces the shape last (streamed: %s)",
  async (stream) => {
    const list = { data: [{ id: "m", owned_by: "llamacpp" }] };
    await using model = await startModelServer(
      [
        { calls: [{ name: "add", arguments: '{"a":1,"b":2}' }], usage },
        { text: "The sum is 3.", usage },
        { text: '{"sum":3}', usage },
      ],
      { routes: { "GET /v1/models": { body: list } } },
    );
    const called: number[][] = [];
    const add = tool("add", "Add.", { a: Number, b: Number }, ({ a, b }) => {
      called.push([a, b]);
      return a + b;
    });
    await using server = await startServer({
      port: 0,
      store: "memory",
      log: { level: "silent" },
      models: { test: { url: model.url, model: "m" } },
      tools: [add],
    });
    const format = { type: "json_schema", name: "answer", schema };
    const reply = await fetch(`${server.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "test", input: "1 + 2?", text: { format }, stream }),
    });
    const text = await reply.text();
    const events = stream ? framesOf(text).map(({ data }) => data as Record<string, unknown>) : [];
    const response = (
      stream ? events.findLast((it) => it["response"])?.["response"] : JSON.parse(text)
    ) as ResponseObject;

    expect(called).toEqual([[1, 2]]);
    const message = response.output.findLast(({ type }) => type === "message");
    expect({ status: response.status, message }).toMatchObject({
      status: "completed",
      message: { content: [{ text: '{"sum":3}' }] },
    });
    const sent = model.requests
      .filter(({ path }) => path.endsWith("/chat/completions"))
      .map(({ body }) => [body["tools"]?.length, body["tool_choice"], body["response_format"]?.type]);
    expect(sent).toEqual([
      [1, undefined, undefined],
      [1, undefined, undefined],
      [1, "none", "json_schema"],
    ]);
    // The draft is not shown, but it has cost tokens.
    expect(text).not.toContain("The sum is 3.");
    expect(response.usage?.total_tokens).toBe(45);
    const shown = events.filter(({ type }) => type === "response.output_text.delta").map((it) => it["delta"]);
    expect(shown.join("")).toBe(stream ? '{"sum":3}' : "");
  },
);
