import { scriptedModel, startModelServer } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { ApiError } from "../protocol/api-error.ts";
import { resolveConfig } from "./check-config.ts";
import { ConfiguredModels } from "./models.ts";
import type { ConfigInput } from "./schema.ts";

const nowhere = "http://127.0.0.1:9/v1"; // the port that throws everything away, where nobody listens

function modelsOf(input: ConfigInput, options?: ConstructorParameters<typeof ConfiguredModels>[1]) {
  return new ConfiguredModels(resolveConfig(input), options);
}

async function refusal(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error instanceof ApiError) return error;
  throw new Error("expected an ApiError", { cause: error });
}

/** An endpoint with models, which is asked for nothing else. */
function endpoint(...models: string[]) {
  return startModelServer([], { models });
}

describe("a model of the config", () => {
  test("is asked by its name at its server, with its key", async () => {
    await using server = await startModelServer([{ text: "Hi" }]);
    const models = modelsOf({
      models: { big: { url: server.url, model: "qwen3:235b", apiKey: "abc", headers: { "x-team": "a" } } },
    });
    const { name, provider } = await models.resolve("big");
    expect(name).toBe("big");
    for await (const _ of provider.stream({ messages: [{ role: "user", content: "Hello" }] }));
    const [request] = server.requests;
    expect(request?.body).toMatchObject({ model: "qwen3:235b" });
    expect(request?.headers).toMatchObject({ authorization: "Bearer abc", "x-team": "a" });
  });

  test("has the limits of the config", async () => {
    await using server = await startModelServer([{ text: "x".repeat(1000) }, { text: "Hi" }]);
    const profile = { repairArguments: false };
    const models = modelsOf({
      models: { small: { url: server.url, maxAnswerBytes: 900, maxCallsPerAnswer: 5, profile } },
    });
    const { provider } = await models.resolve("small");
    const request = { messages: [{ role: "user", content: "Hello" }] } as const;
    await expect(Array.fromAsync(provider.stream(request))).rejects.toThrow("more than 900 bytes");
    expect(await Array.fromAsync(provider.stream(request))).not.toEqual([]);
    expect(provider.profile).toMatchObject(profile);
  });

  test("may be a provider made by code", async () => {
    const provider = scriptedModel([]);
    expect(await modelsOf({ models: { mine: provider } }).resolve("mine")).toEqual({
      name: "mine",
      provider,
    });
  });

  test("has the same provider each time", async () => {
    const models = modelsOf({ models: { a: { url: nowhere } }, endpoints: [] });
    expect((await models.resolve("a")).provider).toBe((await models.resolve("a")).provider);
  });

  test("wins over one of the same name at an endpoint", async () => {
    await using server = await endpoint("a", "b");
    const models = modelsOf({ models: { a: { url: nowhere } }, endpoints: [{ url: server.url }] });
    expect((await models.resolve("a")).provider.endpoint).toBe(nowhere);
    expect((await models.resolve("b")).provider.endpoint).toBe(server.url);
    expect((await models.list()).map(({ id }) => id)).toEqual(["a", "b"]);
  });

  test.each(["__proto__", "constructor", "toString"])("does not exist by the name %s", async (name) => {
    const { status, code } = await refusal(modelsOf({ models: { a: { url: nowhere } } }).resolve(name));
    expect({ status, code }).toEqual({ status: 404, code: "model_not_found" });
  });
});

describe("the only endpoint", () => {
  test("gets every name without being asked for its list", async () => {
    const { name, provider } = await modelsOf({ endpoints: [{ url: nowhere }] }).resolve("anything:1b");
    expect({ name, model: provider.name, endpoint: provider.endpoint }).toEqual({
      name: "anything:1b",
      model: "anything:1b",
      endpoint: nowhere,
    });
  });

  test("beside named models gets the names it lists, or all if it cannot list them", async () => {
    await using server = await endpoint("b");
    const named = { a: { url: nowhere } };
    const listing = modelsOf({ models: named, endpoints: [{ url: server.url }] });
    expect((await listing.resolve("b")).provider.endpoint).toBe(server.url);
    expect((await refusal(listing.resolve("c"))).message).toBe(
      'The model "c" does not exist. Known are: a, b.',
    );
    const silent = modelsOf({ models: named, endpoints: [{ url: nowhere }] });
    expect((await silent.resolve("c")).provider.endpoint).toBe(nowhere);
  });

  test("limits the number of cached providers", async () => {
    const models = modelsOf({ endpoints: [{ url: nowhere }] });
    const { provider: first } = await models.resolve("first");
    const { provider: used } = await models.resolve("used");
    for (let i = 0; i < 600; i += 1) {
      await models.resolve(`other-${i}`);
      await models.resolve("used");
    }
    expect((await models.resolve("used")).provider).toBe(used);
    expect((await models.resolve("first")).provider).not.toBe(first);
  });
});

test("the default is the only model that can chat", async () => {
  await using server = await endpoint("nomic-embed-text", "qwen3:8b", "bge-m3");
  expect((await modelsOf({ endpoints: [{ url: server.url }] }).resolve(undefined)).name).toBe("qwen3:8b");
  await using embedding = await endpoint("nomic-embed-text", "bge-m3");
  const { message } = await refusal(modelsOf({ endpoints: [{ url: embedding.url }] }).resolve(undefined));
  expect(message).toContain("The request names no model, and there is no default.");
});

describe("of several endpoints", () => {
  test("the first that lists a model is asked, and lists are cached", async () => {
    let asked = 0;
    const list = () => {
      asked += 1;
      return { body: { data: [{ id: "a" }, { id: "qwen3:latest" }] } };
    };
    await using one = await startModelServer([], { routes: { "GET /v1/models": list } });
    await using two = await endpoint("a", "b");
    let time = 0;
    const models = modelsOf({ endpoints: [{ url: one.url }, { url: two.url }] }, { now: () => time });
    const at = async (name: string) => (await models.resolve(name)).provider.endpoint;
    expect([await at("a"), await at("b"), await at("qwen3")]).toEqual([one.url, two.url, one.url]);
    expect(asked).toBe(1);
    time = 29_999;
    await at("a");
    expect(asked).toBe(1);
    time = 30_000;
    expect(await at("a")).toBe(one.url);
    await expect.poll(() => asked).toBe(2);
  });

  test("a model that is added is there at the next request that names it; unknown names ask once a second", async () => {
    let asked = 0;
    const ids = ["a"];
    const list = () => {
      asked += 1;
      return { body: { data: ids.map((id) => ({ id })) } };
    };
    await using one = await startModelServer([], { routes: { "GET /v1/models": list } });
    await using two = await endpoint("b");
    let time = 0;
    const models = modelsOf({ endpoints: [{ url: one.url }, { url: two.url }] }, { now: () => time });
    await models.resolve("a");
    time = 1000;
    ids.push("new");
    expect((await models.resolve("new")).provider.endpoint).toBe(one.url);
    expect(asked).toBe(2);
    for (const name of ["x", "y", "z"])
      expect(await refusal(models.resolve(name))).toMatchObject({ code: "model_not_found" });
    expect(asked).toBe(2);
    time = 2000;
    await Promise.all(["x", "y"].map((name) => refusal(models.resolve(name))));
    expect(asked).toBe(3);
  });

  test("one that goes down keeps its models in the list, as unavailable, and is counted", async () => {
    const server = await endpoint("a");
    await using other = await endpoint("b");
    let time = 0;
    const models = modelsOf(
      {
        endpoints: [{ url: server.url }, { url: other.url }],
        models: { mine: { url: nowhere }, made: scriptedModel([]), same: { url: other.url, model: "b" } },
      },
      { now: () => time },
    );
    const [up, unavailable] = [{ ownedBy: "rondo" }, { ownedBy: "rondo", isUnavailable: true }];
    expect(await models.list()).toEqual([
      { id: "mine", ...unavailable },
      { id: "made", ...up },
      { id: "same", ...up },
      { id: "a", ...up },
      { id: "b", ...up },
    ]);
    expect(await models.health()).toEqual({ up: 2, down: 1 });
    await server.close();
    time = 60_000;
    expect(await models.list()).toContainEqual({ id: "a", ...unavailable });
    expect(await models.health()).toEqual({ up: 1, down: 2 });
  });

  test("one that is down is left out of the list, with a warning", async () => {
    await using server = await endpoint("a");
    const warnings: string[] = [];
    const models = modelsOf(
      { endpoints: [{ url: "http://me:secret@127.0.0.1:9/v1" }, { url: server.url, server: "ollama" }] },
      { onWarning: (message) => warnings.push(message) },
    );
    expect(await models.list()).toEqual([{ id: "a", ownedBy: "ollama" }]);
    expect((await models.resolve("a")).provider.endpoint).toBe(server.url);
    expect(warnings).toEqual([
      expect.stringMatching(/^The models of http:\/\/127\.0\.0\.1:9\/v1 are left out: /),
    ]);
    expect(warnings.join()).not.toContain("secret");
    const { message, status, param } = await refusal(models.resolve("b"));
    expect({ status, param }).toEqual({ status: 404, param: "model" });
    expect(message).toBe(
      'The model "b" does not exist. Known are: a. A model server did not answer, so its models may be missing here.',
    );
  });

  test("one that goes down keeps its models, so that requests fail with its error", async () => {
    await using two = await endpoint("b");
    let time = 0;
    const one = await endpoint("a");
    const models = modelsOf({ endpoints: [{ url: one.url }, { url: two.url }] }, { now: () => time });
    await models.resolve("a");
    await one[Symbol.asyncDispose]();
    time = 30_000;
    expect((await models.resolve("a")).provider.endpoint).toBe(one.url);
    expect((await models.list()).filter((it) => !it.isUnavailable).map(({ id }) => id)).toEqual(["b"]);
  });

  test("one that hangs does not delay requests for known models", async () => {
    const hanging = Promise.withResolvers<void>();
    let time = 0;
    const body = { data: [{ id: "a" }] };
    const list = () => (time === 0 ? { body } : { body, waitFor: hanging.promise });
    await using one = await startModelServer([], { routes: { "GET /v1/models": list } });
    await using two = await endpoint("b");
    const models = modelsOf({ endpoints: [{ url: one.url }, { url: two.url }] }, { now: () => time });
    await models.resolve("a");
    time = 30_000;
    expect((await models.resolve("b")).provider.endpoint).toBe(two.url);
    expect((await models.resolve("a")).provider.endpoint).toBe(one.url);
    hanging.resolve();
  });

  test("one that comes back is asked again after a second", async () => {
    let time = 0;
    const list = () => (time < 1000 ? { status: 503 } : { body: { data: [{ id: "a" }] } });
    await using one = await startModelServer([], { routes: { "GET /v1/models": list } });
    await using two = await endpoint("b");
    const models = modelsOf({ endpoints: [{ url: one.url }, { url: two.url }] }, { now: () => time });
    expect((await refusal(models.resolve("a"))).status).toBe(404);
    time = 999;
    expect((await refusal(models.resolve("a"))).status).toBe(404);
    time = 1000;
    expect((await models.resolve("a")).provider.endpoint).toBe(one.url);
  });

  test("one that does not answer in time is left out", async () => {
    await using slow = await startModelServer([], { routes: { "GET /v1/models": { stall: 0 } } });
    const input = { endpoints: [{ url: slow.url }], models: { a: { url: nowhere } } };
    const models = modelsOf(input, { listTimeoutMs: 20 });
    expect((await models.list()).map(({ id }) => id)).toEqual(["a"]);
  });
});

describe("a request without a model", () => {
  test("gets the default", async () => {
    const models = modelsOf({ endpoints: [{ url: nowhere }], defaultModel: "a" });
    expect((await models.resolve(undefined)).name).toBe("a");
  });

  test("gets the only model", async () => {
    await using server = await endpoint("a");
    expect((await modelsOf({ endpoints: [{ url: server.url }] }).resolve(undefined)).name).toBe("a");
    expect((await modelsOf({ models: { b: { url: nowhere } } }).resolve(undefined)).name).toBe("b");
  });

  test("must choose among several", async () => {
    const models = modelsOf({ models: { a: { url: nowhere }, b: { url: nowhere } } });
    const { status, param, message } = await refusal(models.resolve(undefined));
    expect({ status, param }).toEqual({ status: 400, param: "model" });
    expect(message).toBe("The request names no model, and there is no default. Known are: a, b.");
  });

  test("fails if the name is empty too", async () => {
    expect((await refusal(modelsOf({ endpoints: [{ url: nowhere }] }).resolve(" "))).status).toBe(400);
  });
});
