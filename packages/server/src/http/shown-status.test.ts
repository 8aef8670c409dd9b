import { expect, test } from "vitest";
import { viewFor } from "./shown-status.ts";
import { fakeResponse } from "./testkit/fake-responses.ts";

const waiting = fakeResponse("resp_1", "requires_action");
const shownTo = (headers: Record<string, string>, setting: "auto" | boolean = "auto") =>
  viewFor(headers, setting).response(waiting).status;

test.each([
  "OpenAI/JS 7.53.0",
  "AzureOpenAI/JS 6.0.0",
  "OpenAI/Python 2.1.0",
  "AsyncOpenAI/Python 2.1.0",
  "OpenAI/Go 3.0.0",
  "OpenAI/Java 4.1.0",
  "OpenAI::Client/Ruby 0.30.0",
  "OpenAI/2.1.0 (.NET 9.0.1; Linux)",
  "Agents/JavaScript 0.3.0",
  "Agents/Python 0.5.0",
  "pi/1.0 OpenAI/JS 7.53.0",
])("a client that says that it is %s sees completed", (agent) => {
  expect(shownTo({ "user-agent": agent })).toBe("completed");
});

test("so does one with a header of these SDKs, whatever its name", () => {
  expect(shownTo({ "user-agent": "my app", "x-stainless-lang": "js" })).toBe("completed");
  expect(shownTo({ "x-stainless-retry-count": "0" })).toBe("completed");
});

test.each([
  "",
  "curl/8.5.0",
  "ai/6.0.0 ai-sdk/openai/3.0.0 runtime/node.js/24",
  "codex_cli_rs/0.80.0 (Debian 13; x86_64)",
  "node",
  "Rondo/0.1.0",
  "MyAgents/JavaScript",
])("a client that says that it is '%s' sees requires_action", (agent) => {
  expect(shownTo({ "user-agent": agent })).toBe("requires_action");
});

test("true and false hold for all clients", () => {
  expect(shownTo({ "user-agent": "OpenAI/JS 7.53.0" }, true)).toBe("requires_action");
  expect(shownTo({ "user-agent": "curl/8.5.0" }, false)).toBe("completed");
});

test("no other event and no other status is changed, and text with the word stays as it is", () => {
  const sent: [string, string][] = [];
  const sink = viewFor({}, false).sink({ send: (...event) => sent.push(event), drained: undefined });
  const delta = JSON.stringify({ delta: '"status":"requires_action"' });
  const end = (status: string) =>
    JSON.stringify({ response: { status, metadata: { status: "requires_action" } } });
  sink.send("response.output_text.delta", delta);
  sink.send("response.completed", end("completed"));
  sink.send("response.completed", end("requires_action"));
  expect(sent.map(([, json]) => json)).toEqual([delta, end("completed"), end("completed")]);
});
