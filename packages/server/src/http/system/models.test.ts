import { demoModel } from "rondo/demo";
import { type ServerStep, startModelServer } from "rondo/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { resolveConfig } from "../../config/check-config.ts";
import { ConfiguredModels } from "../../config/models.ts";
import type { ConfigInput } from "../../config/schema.ts";
import { ModelChecker } from "./model-checker.ts";
import { ModelFacts } from "./model-facts.ts";
import { deadUrl, eventually, start, twoOwners } from "./testkit/start.ts";

async function modelServer(
  script: ServerStep | readonly ServerStep[] = [],
  options: NonNullable<Parameters<typeof startModelServer>[1]> = { models: ["qwen3:8b"] },
) {
  const server = await startModelServer(script, options);
  onTestFinished(() => server.close());
  return server;
}

const modelsOf = (config: ConfigInput) => new ConfiguredModels(resolveConfig(config));

/** A model that answers, streams, and calls the tool of the checks. */
const works: ServerStep = ({ body }) => {
  const { messages, tools } = body as { messages: { role: string }[]; tools?: unknown[] };
  if (messages.at(-1)?.role === "tool") return { text: "138974" };
  if (tools) return { calls: [{ name: "add", input: { a: 48_213, b: 90_761 } }] };
  return { text: ["1, ", "2"] };
};

describe("GET /v1/system/models", () => {
  test("tells the profile of each model, and where each fact comes from", async () => {
    const list = { object: "list", data: [{ id: "qwen3:8b", owned_by: "vllm", max_model_len: 8192 }] };
    const { url } = await modelServer([], { routes: { "GET /v1/models": { body: list } } });
    const { get } = await start({
      endpoints: [{ url, maxConcurrency: 3, profile: { text: "cumulative" } }],
      models: { demo: demoModel() },
    });
    const body = await eventually(get, "/v1/system/models", ({ data }) => data[0]?.context_window === 8192);
    expect(body.data).toMatchObject([
      {
        id: "qwen3:8b",
        endpoint: "vLLM",
        kind: "vllm",
        context_window: 8192,
        slots: { limit: 3, taken: 0, waiting: 0 },
      },
      { id: "demo", endpoint: "Demo", kind: "code", slots: { limit: null } },
    ]);
    const facts = Object.fromEntries(
      body.data[0].profile.map(({ name, ...fact }: { name: string }) => [name, fact]),
    );
    expect(facts).toMatchObject({
      text: { value: "cumulative", from: "config" },
      contextWindow: { value: 8192, from: "server" },
      constrainsCalls: { value: true, from: "server" },
      sendReasoning: { value: "reasoning_content", from: "known model" },
      reasoningFields: { from: "default" },
    });
  });

  test("asks a server about a few models at a time, and not again soon", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `model-${index}`);
    const asked: string[] = [];
    const { url } = await modelServer([], {
      models: names,
      routes: {
        "POST /api/show": ({ body }) => {
          asked.push((body as { model: string }).model);
          return { body: { parameters: "num_ctx 4096" } };
        },
        "GET /api/ps": { body: { models: [] } },
        "GET /api/version": { body: { version: "1" } },
      },
    });
    const models = modelsOf({ endpoints: [{ url, server: "ollama" }] });
    await models.list();
    const facts = new ModelFacts(models);
    await facts.list();
    await expect.poll(() => asked.length).toBe(4);
    for (let round = 0; round < 6; round += 1) await facts.list();
    const windows = async () => (await facts.list()).data.map(({ context_window }) => context_window);
    await expect.poll(windows).toEqual(names.map(() => 4096));
    expect(asked.toSorted()).toEqual(names.toSorted());
  });
});

describe("POST /v1/system/models/check", () => {
  test("makes the checks of the doctor, all or one", async () => {
    const { url } = await modelServer(works);
    const { post } = await start({ endpoints: [{ url }] });
    const { body } = await post("/v1/system/models/check", { model: "qwen3:8b" });
    expect(body.data).toMatchObject([
      { name: "answer", ok: true, detail: expect.stringContaining("it said") },
      { name: "stream", ok: true },
      { name: "tool", ok: true, status: "ok", detail: expect.stringContaining("add(48213, 90761)") },
    ]);
    const one = await post("/v1/system/models/check", { model: "qwen3:8b", check: "stream" });
    expect(one.body.data).toMatchObject([{ name: "stream", ok: true, ms: expect.any(Number) }]);
  });

  test("a model that code made is checked too", async () => {
    const { post } = await start({ models: { demo: demoModel() } });
    const { body } = await post("/v1/system/models/check", { model: "demo", check: "answer" });
    expect(body.data).toMatchObject([{ name: "answer", ok: true }]);
  });

  test("a server that is away is a failed check with what to do, and without its address for owners with keys", async () => {
    const url = await deadUrl();
    const { keys, auth } = twoOwners();
    const { post } = await start({ auth, models: { mine: { url, model: "small" } } });
    expect((await post("/v1/system/models/check", { model: "mine" })).status).toBe(401);
    const { body } = await post("/v1/system/models/check", { model: "mine" }, keys.ann);
    expect(body.data).toMatchObject([
      { name: "answer", ok: false, code: "dead_port", detail: expect.stringContaining("ollama serve") },
    ]);
    expect(JSON.stringify(body)).not.toContain(new URL(url).host);
  });

  test("what a model server says is shown without addresses", async () => {
    const said = "see http://10.0.0.7:8000/help";
    const { url } = await modelServer({ status: 400, body: { error: { message: said } } });
    const checkWith = async (hasAuth: boolean) => {
      const checker = new ModelChecker({ models: modelsOf({ endpoints: [{ url }] }), hasAuth });
      const { data } = await checker.check(
        { model: "qwen3:8b", check: "answer" },
        new AbortController().signal,
      );
      return data[0]?.detail;
    };
    expect(await checkWith(false)).toContain(said);
    expect(await checkWith(true)).toContain("see (hidden)");
  });

  test("a server that hangs fails in time, has one check at a time, and is left when the client leaves", async () => {
    const server = await modelServer(() => new Promise(() => {}));
    const models = modelsOf({ endpoints: [{ url: server.url }] });
    const checker = new ModelChecker({ models, hasAuth: false, timeoutMs: 300 });
    const { signal } = new AbortController();
    const body = { model: "qwen3:8b" };
    const first = checker.check(body, signal);
    await expect.poll(() => server.requests.length).toBeGreaterThan(0);
    await expect(checker.check(body, signal)).rejects.toMatchObject({ status: 429, code: "check_under_way" });
    expect((await first).data).toMatchObject([{ name: "answer", ok: false, code: "slow" }]);
    const leaving = new AbortController();
    const second = checker.check(body, leaving.signal);
    leaving.abort(new Error("left"));
    await expect(second).rejects.toThrow("left");
    expect((await checker.check({ ...body, check: "stream" }, signal)).data).toMatchObject([
      { code: "slow" },
    ]);
  });

  test.each([
    ["an unknown model", { model: "none" }, 404],
    ["no model", {}, 400],
    ["an unknown check", { model: "demo", check: "everything" }, 400],
  ])("refuses %s", async (_, body, status) => {
    const { post } = await start({ models: { demo: demoModel() } });
    expect((await post("/v1/system/models/check", body)).status).toBe(status);
  });
});
