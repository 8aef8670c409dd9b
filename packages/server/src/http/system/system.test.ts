import { demoModel } from "rondo/demo";
import { scriptedModel, startModelServer } from "rondo/testing";
import { expect, onTestFinished, test } from "vitest";
import { deadUrl, eventually, start, twoOwners } from "./testkit/start.ts";

interface Endpoints {
  readonly endpoints: readonly { readonly state: string }[];
}

async function modelServer(...models: string[]) {
  const server = await startModelServer([], { models });
  onTestFinished(() => server.close());
  return server;
}

test("tells what the server is, and which model servers answer with which models", async () => {
  const up = await modelServer("small", "large");
  const down = await deadUrl();
  const { get } = await start({
    endpoints: [{ url: up.url, server: "ollama", maxConcurrency: 2 }, { url: down }],
    models: { mine: { url: up.url, server: "ollama", maxConcurrency: 2, model: "small" }, demo: demoModel() },
  });
  const isKnown = ({ endpoints }: Endpoints) => endpoints.every(({ state }) => state !== "unknown");
  const body = await eventually(get, "/v1/system", isKnown);
  expect(body).toMatchObject({
    object: "system",
    version: expect.stringMatching(/^\d/),
    node: process.version,
    store: { kind: "memory", label: "memory" },
    auth: false,
    owner: "local",
    sandbox: { state: "off", reason: expect.stringContaining("sandbox is off") },
    queue: { queued: 0, running: 0 },
    streams: 0,
    is_demo: false,
  });
  expect(body.endpoints).toEqual([
    {
      name: "Ollama",
      url: up.url,
      kind: "ollama",
      state: "up",
      error: null,
      models: ["mine", "small", "large"],
      slots: { limit: 2, taken: 0, waiting: 0 },
    },
    {
      name: "Model server",
      url: down,
      kind: "other",
      state: "down",
      error: expect.stringContaining(down),
      models: [],
      slots: { limit: null, taken: 0, waiting: 0 },
    },
    {
      name: "Demo",
      kind: "code",
      state: "up",
      error: null,
      models: ["demo"],
      slots: { limit: null, taken: 0, waiting: 0 },
    },
  ]);
});

test("with keys, each owner sees itself, and nobody an address", async () => {
  const { keys, auth } = twoOwners();
  const down = await deadUrl();
  const { get } = await start({
    endpoints: [{ url: down, apiKey: "sk-very-secret-key" }],
    auth,
    sandbox: { kind: "none", owners: ["key:bob"] },
  });
  expect((await get("/v1/system")).status).toBe(401);
  const isDown = ({ endpoints }: Endpoints) => endpoints[0]?.state === "down";
  const body = await eventually(get, "/v1/system", isDown, keys.ann);
  expect(body).toMatchObject({
    auth: true,
    owner: "key:ann",
    sandbox: { state: "off", reason: "You may not run code on this server." },
    endpoints: [{ state: "down", error: "It does not answer. The server's log says why." }],
  });
  expect(JSON.stringify(body)).not.toContain(new URL(down).port);
  expect(JSON.stringify(body)).not.toContain("secret");
  expect((await get("/v1/system", keys.bob)).body).toMatchObject({
    owner: "key:bob",
    sandbox: { reason: expect.stringContaining("is off") },
  });
});

test("a model server that hangs does not make the question hang", async () => {
  const hung = await startModelServer(
    { text: "" },
    { routes: { "GET /v1/models": { text: [new Promise(() => {})] } } },
  );
  onTestFinished(() => hung.close());
  const { get } = await start({ endpoints: [{ url: hung.url }] });
  expect((await get("/v1/system")).body.endpoints).toMatchObject([{ state: "unknown", models: [] }]);
});

test("only the demo model: it is a demo", async () => {
  const { get } = await start({ models: { demo: demoModel() } });
  expect((await get("/v1/system")).body).toMatchObject({ is_demo: true });
});

test("console: false removes the routes", async () => {
  const { get } = await start({ models: { demo: demoModel() }, console: false });
  for (const path of ["/v1/system", "/v1/system/samples", "/v1/system/log", "/v1/system/models", "/v1/tools"])
    expect(await get(path)).toMatchObject({ status: 404, body: { error: { code: "unknown_path" } } });
});

test("with keys, the queue has the runs of the owner", async () => {
  const { keys, auth } = twoOwners();
  const gate = Promise.withResolvers<void>();
  const model = scriptedModel({ text: [gate.promise, "done"] }, { name: "test" });
  const { get, post } = await start({ auth, models: { test: model } });
  onTestFinished(() => gate.resolve());
  await post("/v1/responses", { model: "test", input: "hi", background: true }, keys.ann);
  await model.request(0);
  // It counts as running from the next commit on.
  const runsOf = async (key: string) => {
    const { queued, running } = (await get("/v1/system", key)).body.queue;
    return queued + running;
  };
  expect(await runsOf(keys.ann)).toBe(1);
  expect(await runsOf(keys.bob)).toBe(0);
});
