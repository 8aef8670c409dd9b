import { describe, expect, onTestFinished, test } from "vitest";
import {
  type ModelServer,
  type ServerAnswer,
  type ServerStep,
  startModelServer,
} from "../../testing/index.ts";
import { openaiCompatible } from "../chat-completions.ts";
import { fallback } from "../fallback.ts";
import type { ModelRequest } from "../provider.ts";
import { learnEndpoint } from "./learn-endpoint.ts";

type Routes = Record<string, ServerStep>;

async function serve(routes: Routes, script: ServerStep | readonly ServerStep[] = []): Promise<ModelServer> {
  const server = await startModelServer(script, { routes });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

const list = (...data: unknown[]): ServerAnswer => ({ body: { object: "list", data } });
const entry = (owner: string, more: object = {}) => ({ id: "m", object: "model", owned_by: owner, ...more });
const show = (parameters: string) => ({
  body: { parameters, model_info: { "qwen3.context_length": 40_960 }, capabilities: ["completion", "tools"] },
});

const servers: [name: string, routes: Routes, facts: object][] = [
  [
    "llama.cpp",
    {
      "GET /v1/models": { ...list(entry("me", { meta: { n_ctx: 1024 } })), headers: { server: "llama.cpp" } },
    },
    { server: "llamacpp", evidence: "its header 'Server: llama.cpp'", contextWindow: 1024 },
  ],
  [
    "llama.cpp behind a proxy",
    {
      "GET /v1/models": { ...list(entry("llamacpp")), headers: { server: "nginx" } },
      "GET /props": { body: { default_generation_settings: { n_ctx: 2048 } } },
    },
    { server: "llamacpp", evidence: "the owner 'llamacpp' of its models", contextWindow: 2048 },
  ],
  [
    "llama.cpp that loads its model",
    {
      "GET /v1/models": {
        status: 503,
        body: { error: { message: "Loading model" } },
        headers: { server: "llama.cpp" },
      },
    },
    { server: "llamacpp" },
  ],
  [
    "vLLM",
    { "GET /v1/models": { ...list(entry("vllm", { max_model_len: 8192 })), headers: { server: "uvicorn" } } },
    { server: "vllm", contextWindow: 8192 },
  ],
  [
    "SGLang",
    { "GET /v1/models": list(entry("sglang", { max_model_len: 4096 })) },
    { server: "sglang", contextWindow: 4096 },
  ],
  [
    "Ollama with a loaded model",
    {
      "GET /v1/models": list(entry("library", { id: "m:latest" })),
      "GET /api/ps": { body: { models: [{ name: "m:latest", context_length: 16_384 }] } },
      "POST /api/show": show("num_ctx 8192"),
    },
    { server: "ollama", contextWindow: 16_384 },
  ],
  [
    "Ollama with a Modelfile",
    {
      "GET /v1/models": list(entry("someone")),
      "GET /api/version": { body: { version: "0.12.3" } },
      "GET /api/ps": { body: { models: [] } },
      "POST /api/show": show('stop "<|im_end|>"\nnum_ctx                        8192\ntemperature 0.6'),
    },
    { server: "ollama", evidence: "its version at /api/version", contextWindow: 8192 },
  ],
  [
    "Ollama that does not tell the window in use",
    {
      "GET /v1/models": list(entry("library")),
      "GET /api/ps": { body: { models: [] } },
      "POST /api/show": show("temperature 0.6"),
    },
    { server: "ollama", contextWindow: undefined },
  ],
  [
    "LM Studio",
    {
      "GET /v1/models": list(entry("organization_owner")),
      "GET /api/v0/models": list({ id: "m", max_context_length: 32_768, loaded_context_length: 4096 }),
    },
    { server: "lmstudio", contextWindow: 4096 },
  ],
  [
    "LM Studio whose list does not name it",
    {
      "GET /v1/models": list(entry("")),
      "GET /api/version": { body: { error: "Unexpected endpoint or method. (GET /api/version)" } },
      "GET /api/v0/models": list({ id: "m", state: "not-loaded", max_context_length: 32_768 }),
    },
    { server: "lmstudio", contextWindow: undefined },
  ],
  [
    "a gateway",
    { "GET /v1/models": list(entry("acme", { context_length: 128_000 })) },
    { server: undefined, contextWindow: 128_000 },
  ],
  ["a server without a list", { "GET /v1/models": { status: 404 } }, { server: undefined }],
  ["a server that sends nonsense", { "GET /v1/models": { body: "{{{" } }, { server: undefined }],
  [
    "a server whose numbers are nonsense",
    { "GET /v1/models": list(entry("vllm", { max_model_len: -1, meta: [], context_length: "many" })) },
    { server: "vllm", contextWindow: undefined },
  ],
];

describe("learnEndpoint", () => {
  test.each(servers)("knows %s by what it answers", async (_, routes, facts) => {
    const server = await serve(routes);
    expect(await learnEndpoint({ baseURL: server.url, model: "m" })).toMatchObject(facts);
  });

  test("asks once, and shares the answer with the models of the endpoint", async () => {
    let asked = 0;
    const server = await serve({
      "GET /v1/models": () => {
        asked += 1;
        return list(entry("vllm"));
      },
    });
    const options = { baseURL: server.url };
    await Promise.all([learnEndpoint(options), learnEndpoint(options)]);
    const model = openaiCompatible({ ...options, model: "m" });
    expect((await model.learn?.())?.name).toBe("vllm");
    expect(asked).toBe(1);
  });

  test("knows nothing about a server that is away, or that hangs, and does not fail", async () => {
    const server = await startModelServer([]);
    await server.close();
    const nothing = { server: undefined, evidence: undefined, contextWindow: undefined };
    expect(await learnEndpoint({ baseURL: server.url, model: "m" })).toEqual(nothing);
    const silent = await serve({ "GET /v1/models": { body: "", waitFor: new Promise(() => {}) } });
    expect(await learnEndpoint({ baseURL: silent.url })).toEqual(nothing);
  });
});

describe("a model asks its server what it is", () => {
  const hello: ModelRequest = { messages: [{ role: "user", content: "Hello!" }] };
  const output = { name: "answer", schema: { type: "object" } } as const;
  const ask = (server: ModelServer, request: ModelRequest, model = "m") =>
    Array.fromAsync(openaiCompatible({ baseURL: server.url, model, retry: false }).stream(request));
  const llamacpp = { "GET /v1/models": { ...list(entry("me")), headers: { server: "llama.cpp" } } };

  test("before a request for a shape, which it then enforces on any port", async () => {
    const server = await serve(llamacpp, ["{}"]);
    await ask(server, { ...hello, output });
    expect(server.requests[0]?.body).toMatchObject({ response_format: { type: "json_schema" } });
  });

  test("before a request for a call of one tool", async () => {
    const server = await serve({ "GET /v1/models": list(entry("library")) }, ["Hi."]);
    const tools = ["add", "sub"].map((name) => ({
      type: "function" as const,
      function: { name, description: "", parameters: { type: "object" as const } },
    }));
    await ask(server, { ...hello, tools, toolChoice: { name: "add" } });
    expect(server.requests[0]?.body?.["tools"]).toHaveLength(1);
    expect(server.requests[0]?.body).not.toHaveProperty("tool_choice");
  });

  test("before it sends reasoning back", async () => {
    const server = await serve({ "GET /v1/models": list(entry("library")) }, ["Hi."]);
    const thought = { role: "assistant", content: "Hi.", reasoning: "A greeting." } as const;
    await ask(server, { messages: [...hello.messages, thought, ...hello.messages] }, "qwen3:8b");
    expect(server.requests[0]?.body?.["messages"]).toMatchObject([{}, { reasoning: "A greeting." }, {}]);
  });

  test("and not before a plain request", async () => {
    const asked: string[] = [];
    const server = await serve({ "GET /v1/models": () => void asked.push("x") as never }, ["Hi."]);
    await ask(server, hello);
    expect(asked).toEqual([]);
  });

  test("while it answers, where its template opens the thinking: the answer is text on any port", async () => {
    const model = "deepseek-r1:14b";
    const inHeader = await serve({}, [{ text: "Hello there.", headers: { server: "llama.cpp" } }]);
    expect(await ask(inHeader, hello, model)).toContainEqual({ type: "text.delta", text: "Hello there." });
    const inList = await serve({ "GET /v1/models": list(entry("library")) }, [{ text: "Hello there." }]);
    expect(await ask(inList, hello, model)).toContainEqual({ type: "text.delta", text: "Hello there." });
    const vllm = await serve({ "GET /v1/models": list(entry("vllm")) }, ["Hm.</think>Hello."]);
    expect(await ask(vllm, hello, model)).toContainEqual({ type: "text.delta", text: "Hello." });
  });

  test("again when it was away: it may be another one", async () => {
    const first = await startModelServer([], { routes: { "GET /v1/models": list(entry("vllm")) } });
    const model = openaiCompatible({ baseURL: first.url, model: "m", retry: false });
    expect((await model.learn?.())?.name).toBe("vllm");
    await first.close();
    await expect(Array.fromAsync(model.stream(hello))).rejects.toMatchObject({ code: "model_unreachable" });
    expect(model.profile.name).toBe("common");
  });

  test("but not if the user says what it is", async () => {
    const asked: string[] = [];
    const server = await serve({ "GET /v1/models": () => void asked.push("x") as never }, ["{}"]);
    const model = openaiCompatible({ baseURL: server.url, model: "m", server: "vllm" });
    await Array.fromAsync(model.stream({ ...hello, output }));
    expect(asked).toEqual([]);
    expect(server.requests[0]?.body).toHaveProperty("response_format");
  });

  test("and takes the window from its refusal", async () => {
    const message = "request (7209 tokens) exceeds the available context size (1024 tokens)";
    const server = await serve({}, [{ status: 400, body: { error: { message } } }]);
    const model = openaiCompatible({ baseURL: server.url, model: "m" });
    await expect(Array.fromAsync(model.stream(hello))).rejects.toMatchObject({ contextWindow: 1024 });
    expect(model.profile.contextWindow).toBe(1024);
  });

  test("in a chain of models, each of them", async () => {
    const [a, b] = [await serve(llamacpp), await serve({ "GET /v1/models": list(entry("test")) })];
    const [first, second] = [a, b].map(({ url }) => openaiCompatible({ baseURL: url, model: "m" }));
    if (!first || !second) throw new Error("two models");
    const chain = fallback(first, second);
    expect((await chain.learn?.())?.outputMode).toBe("prompt");
    expect(first.profile.outputMode).toBe("native");
  });
});
