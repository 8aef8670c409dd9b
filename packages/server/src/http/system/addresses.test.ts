import { scriptedModel } from "rondo/testing";
import { expect, test } from "vitest";
import { startNotebook } from "../../executor/mcp/testkit/notebook-server.ts";
import { createLogger } from "../log.ts";
import { deadUrl, eventually, start, twoOwners } from "./testkit/start.ts";

/** Everything that a client gets to see of a model server that does not answer. */
async function whatIsSeen(auth?: Awaited<ReturnType<typeof twoOwners>>) {
  const url = await deadUrl();
  const key = auth?.keys.ann;
  const { get, post } = await start(
    { models: { m: { url } }, log: { level: "info" }, ...(auth && { auth: auth.auth }) },
    { logger: createLogger({ level: "silent" }) },
  );
  const asked = { model: "m", messages: [{ role: "user", content: "hi" }] };
  const [response, chat] = await Promise.all([
    post("/v1/responses", { model: "m", input: "hi" }, key),
    post("/v1/chat/completions", asked, key),
  ]);
  const runs = await get("/v1/runs", key);
  const trace = await get(`/v1/responses/${runs.body.data[0].id}/trace`, key);
  const hasFailure = ({ data }: { data: { message: string }[] }) =>
    data.some(({ message }) => message === "A model failed.");
  const log = await eventually(get, "/v1/system/log", hasFailure, key);
  const types = trace.body.events.map(({ type }: { type: string }) => type);
  expect(types).toEqual(expect.arrayContaining(["model.asked", "request.sent", "warning", "model.failed"]));
  const failure = log.data.find(({ message }: { message: string }) => message === "A model failed.");
  return { port: new URL(url).port, seen: { response, chat, runs, trace }, failure };
}

test("with keys, no owner learns where a model server is, but why it failed", async () => {
  const { port, seen, failure } = await whatIsSeen(twoOwners());
  for (const part of [...Object.values(seen), failure]) {
    expect(JSON.stringify(part)).not.toContain(port);
    expect(JSON.stringify(part)).not.toContain("127.0.0.1");
  }
  const message = expect.stringContaining("No model server answers at (hidden): the connection was refused.");
  expect(seen.response.body.error).toMatchObject({ code: "model_unreachable", message });
  expect(seen.chat.body.error).toMatchObject({ code: "model_unreachable", message });
  expect(failure.fields).toMatchObject({ owner: "key:ann", code: "model_unreachable", reason: message });
});

test("without keys, everyone is the operator and sees it", async () => {
  const { port, seen, failure } = await whatIsSeen();
  for (const part of [...Object.values(seen), failure]) expect(JSON.stringify(part)).toContain(port);
  expect(failure.fields).not.toHaveProperty("cause");
});

test("with keys, no owner learns where an MCP server of the config is", async () => {
  const { keys, auth } = twoOwners();
  let isBroken = false;
  const elsewhere = "http://10.1.2.3:99/mcp";
  const notebook = await startNotebook({
    intercept: () => (isBroken ? new Response(`ask ${elsewhere}`, { status: 500 }) : undefined),
  });
  const gone = await deadUrl();
  const look = { calls: [{ name: "look", input: { n: 1 } }] };
  const model = scriptedModel([look, "No.", "No."]);
  const { get, post } = await start({
    auth,
    models: { m: model },
    mcp: { servers: { notes: { url: notebook.url }, gone: { url: gone, offer: "named" } } },
  });
  const isThere = ({ servers }: { servers: { state: string }[] }) => servers[0]?.state === "connected";
  await eventually(get, "/v1/tools", isThere, keys.ann);
  isBroken = true;
  const called = await post("/v1/responses", { model: "m", input: "hi" }, keys.ann);
  expect(called.body.output[0]).toMatchObject({ type: "mcp_call", status: "failed" });
  const trace = await get(`/v1/responses/${called.body.id}/trace`, keys.ann);
  const tools = [{ type: "mcp", server_label: "gone" }];
  const listed = await post("/v1/responses", { model: "m", input: "hi", tools }, keys.ann);
  expect(listed.body.output[0]).toMatchObject({
    type: "mcp_list_tools",
    error: expect.stringContaining("(hidden)"),
  });
  const byHand = { name: "look", server_label: "notes", arguments: { n: 1 } };
  const tried = await post("/v1/tools/call", byHand, keys.ann);
  expect(tried.body.is_error).toBe(true);
  const seen = JSON.stringify([called, trace, listed, tried, model.requests]);
  for (const { port, hostname } of [elsewhere, gone, notebook.url].map((url) => new URL(url))) {
    expect(seen).not.toContain(`:${port}`);
    expect(seen).not.toContain(hostname);
  }
});
