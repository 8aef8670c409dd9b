import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { ModelConnectionError, UnexpectedAnswerError } from "../error/model-errors.ts";
import { ModelAuthError, ModelNotFoundError } from "../error/model-http-errors.ts";
import { type ServerStep, startModelServer } from "../testing/index.ts";
import { listModels } from "./list-models.ts";

const serve = (step: ServerStep) => startModelServer([], { routes: { "GET /v1/models": step } });

test("returns the names of the models, in the server's order", async () => {
  await using server = await startModelServer([], { models: ["qwen3:8b", "llama3"] });
  expect(await listModels({ baseURL: server.url })).toEqual(["qwen3:8b", "llama3"]);
});

test.each<[name: string, body: unknown, names: string[]]>([
  ["models with names", { models: [{ name: "a" }, { model: "b" }] }, ["a", "b"]],
  ["a bare list", [{ id: "a" }, "b", 5], ["a", "b"]],
  ["none", { data: [] }, []],
  ["null for none", { object: "list", data: null }, []],
])("understands %s", async (_, body, names) => {
  await using server = await serve({ body });
  expect(await listModels({ baseURL: server.url })).toEqual(names);
});

test("sends the key", async () => {
  let header: unknown;
  await using server = await serve(({ headers }) => {
    header = headers["authorization"];
    return { body: { data: [] } };
  });
  await listModels({ baseURL: server.url, apiKey: "secret" });
  expect(header).toBe("Bearer secret");
});

describe("an error says what is wrong", () => {
  test.each<[name: string, step: ServerStep, error: unknown]>([
    ["401", { status: 401 }, ModelAuthError],
    ["404", { status: 404, body: "not found" }, ModelNotFoundError],
    ["a web page", { body: "<html>" }, UnexpectedAnswerError],
    ["other JSON", { body: { ok: true } }, UnexpectedAnswerError],
    ["a drop", { raw: ['{"data":'], drop: 1 }, ModelConnectionError],
  ])("%s", async (_, step, errorClass) => {
    await using server = await serve(step);
    await expect(listModels({ baseURL: server.url })).rejects.toThrow(errorClass);
  });

  test("nobody listening", async () => {
    await expect(listModels({ baseURL: "http://127.0.0.1:1/v1" })).rejects.toThrow("No model server answers");
  });

  test("invalid options", async () => {
    await expect(listModels({ baseURL: "nonsense" })).rejects.toThrow("baseURL");
    await expect(listModels({ url: "http://h/v1" } as never)).rejects.toThrow("options.url");
  });
});

test.each([0, 1])("an abort closes the socket, also in mid-answer (%i)", async (sent) => {
  const controller = new AbortController();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  await using server = await serve((request) => {
    void request.closed.then(resolve);
    setTimeout(() => controller.abort("enough"), 20);
    return sent === 0 ? { waitFor: new Promise(() => {}) } : { raw: ['{"data":'], stall: true };
  });
  const { signal } = controller;
  await expect(listModels({ baseURL: server.url, signal })).rejects.toBe("enough");
  await closed;
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

describe("a list without end", () => {
  test("a long list is truncated, and invalid names are left out", async () => {
    const data = [
      { id: "x".repeat(257) },
      { id: "y".repeat(256) },
      ...Array.from({ length: 20_000 }, (_, i) => ({ id: `m${i}` })),
    ];
    await using server = await serve({ body: { data } });
    const names = await listModels({ baseURL: server.url });
    expect(names).toHaveLength(9999);
    expect(names.slice(0, 2)).toEqual(["y".repeat(256), "m0"]);
  });

  test("is an error", async () => {
    await using server = await serve({ body: `{"data": [${" ".repeat(9 * 1024 * 1024)}]}` });
    await expect(listModels({ baseURL: server.url })).rejects.toThrow(
      `Expected a list of models from ${server.url}, got more than 8388608 bytes.`,
    );
  });
});
