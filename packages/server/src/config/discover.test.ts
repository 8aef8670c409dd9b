import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { startModelServer } from "rondo/testing";
import { expect, test } from "vitest";
import { candidates, discoverModelServers, placeOf } from "./discover.ts";

async function listening(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const portOf = (url: string) => Number(new URL(url).port);

test("finds those that answer, each with its models, and leaves out the others", async () => {
  await using ollama = await startModelServer([], { models: ["qwen3:8b", "llama3.2"] });
  await using vllm = await startModelServer([], { models: [] });
  using page = await listening((_, response) => void response.end("<html>"));
  using silent = await listening(() => {});
  const found = await discoverModelServers({
    env: {},
    timeoutMs: 300,
    ports: { ollama: portOf(ollama.url), vllm: portOf(vllm.url), lmstudio: page.port, llamacpp: silent.port },
  });
  expect(found).toEqual([
    { kind: "ollama", url: ollama.url.replace("127.0.0.1", "localhost"), models: ["qwen3:8b", "llama3.2"] },
    { kind: "vllm", url: vllm.url.replace("127.0.0.1", "localhost"), models: [] },
  ]);
});

test("asks RONDO_MODEL_URL first, with its key, and no address twice", async () => {
  const keys: (string | undefined)[] = [];
  using server = await listening((request, response) => {
    keys.push(request.headers.authorization);
    response.end(JSON.stringify({ data: [{ id: "m" }] }));
  });
  const url = `http://127.0.0.1:${server.port}/v1/`;
  const found = await discoverModelServers({
    env: { RONDO_MODEL_URL: url, RONDO_MODEL_API_KEY: "secret" },
    ports: { lmstudio: server.port },
  });
  expect(found).toEqual([{ kind: "lmstudio", url, models: ["m"] }]);
  expect([...new Set(keys)]).toEqual(["Bearer secret"]);
});

test.each([
  ["llamacpp", { server: "llama.cpp" }, "someone"],
  ["sglang", {}, "sglang"],
  ["ollama", {}, "someone"],
])("goes by what a server answers, not by its port: %s", async (kind, headers, owner) => {
  using server = await listening((_, response) => {
    response.writeHead(200, headers).end(JSON.stringify({ data: [{ id: "m", owned_by: owner }] }));
  });
  const [found] = await discoverModelServers({ env: {}, ports: { ollama: server.port } });
  expect(found).toMatchObject({ kind, models: ["m"] });
});

test("ends at once when aborted", async () => {
  const asked = Promise.withResolvers<void>();
  using silent = await listening(() => asked.resolve());
  const controller = new AbortController();
  const found = discoverModelServers({
    env: {},
    timeoutMs: 60_000,
    signal: controller.signal,
    ports: { vllm: silent.port },
  });
  await asked.promise;
  controller.abort(new Error("enough"));
  await expect(found).rejects.toThrow("enough");
});

test("checks the usual ports, and OLLAMA_HOST for Ollama", () => {
  expect(candidates({ env: {} })).toEqual([
    { kind: "ollama", url: "http://localhost:11434/v1" },
    { kind: "lmstudio", url: "http://localhost:1234/v1" },
    { kind: "llamacpp", url: "http://localhost:8080/v1" },
    { kind: "vllm", url: "http://localhost:8000/v1" },
  ]);
  expect(candidates({ env: { OLLAMA_HOST: "0.0.0.0:99", RONDO_MODEL_URL: " " } })[0]).toEqual({
    kind: "ollama",
    url: "http://127.0.0.1:99/v1",
  });
  expect(candidates({ env: { RONDO_MODEL_URL: "http://gpu:8000/v1" } })[0]).toEqual({
    kind: "vllm",
    url: "http://gpu:8000/v1",
  });
});

test.each([
  ["http://localhost:1/v1", "http://127.0.0.1:1/v1/", true],
  ["http://[::1]:1/v1", "http://localhost:1/v1", true],
  ["http://localhost:1/v1", "http://localhost:1", false],
  ["http://localhost:1/v1", "http://localhost:2/v1", false],
  ["http://a/v1", "http://b/v1", false],
])("%s and %s are one place: %s", (one, other, isSame) => {
  expect(placeOf(one) === placeOf(other)).toBe(isSame);
});
