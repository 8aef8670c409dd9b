// Each fault of a server is diagnosed with what to do about it.
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { type ServerStep, startModelServer } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { folderWith } from "../../config/testkit/folder.ts";
import { ableModel, deadUrl, listening, reportOf, runDoctor } from "./testkit/doctor.ts";

const page = "<!doctype html><html><title>A shop</title></html>";

const json =
  (status: number, body: unknown): RequestListener =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };

async function serverFinding(url: string, ...args: string[]) {
  const { exitCode, report } = await reportOf(["--model-url", url, ...args]);
  expect(exitCode).toBe(1);
  const { code, message, advice } = report.servers[0] ?? {};
  return { code, message, advice };
}

test("a dead port", async () => {
  const url = await deadUrl();
  const { out, exitCode } = await runDoctor(["--model-url", url]);
  expect(exitCode).toBe(1);
  expect(out).toContain(
    `  ✗ ${url} (--model-url): nothing listens there: the connection was refused\n` +
      "    → Start the model server there (Ollama: `ollama serve`), or name one that runs with --model-url URL.\n",
  );
});

test("a wrong path, with the right one if it is found nearby", async () => {
  await using server = await startModelServer([]);
  const origin = server.url.replace("/v1", "");
  expect(await serverFinding(origin)).toEqual({
    code: "wrong_url",
    message: expect.stringContaining("a server answers, but has no OpenAI-compatible API at this path"),
    advice: `Use ${origin}/v1 instead. That is an OpenAI-compatible API.`,
  });
});

test("a wrong path where no other is right", async () => {
  await using server = await listening(json(404, { error: "no" }));
  expect(await serverFinding(server.url)).toMatchObject({
    code: "wrong_url",
    message: expect.stringContaining("(status 404: no)"),
    advice: "Check the URL: it usually ends in /v1.",
  });
});

test("a web page", async () => {
  await using server = await listening((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(page);
  });
  expect(await serverFinding(server.url)).toMatchObject({
    code: "web_page",
    message: expect.stringContaining("it answers with a web page (HTML)"),
  });
});

test("a web page at the root of a server whose API is at /v1", async () => {
  await using server = await listening((request, response) => {
    if (request.url === "/v1/models") json(200, { data: [{ id: "m" }] })(request, response);
    else response.end(page);
  });
  const origin = server.url.replace("/v1", "");
  expect(await serverFinding(origin)).toMatchObject({
    code: "web_page",
    advice: expect.stringContaining(`Use ${server.url} instead.`),
  });
});

test("a redirect, and other JSON", async () => {
  await using redirect = await listening((_, response) => {
    response.writeHead(302, { location: "https://example.com/login" }).end();
  });
  await using other = await listening(json(200, { hello: "world" }));
  expect(await serverFinding(redirect.url)).toMatchObject({
    code: "redirect",
    message: expect.stringContaining("https://example.com/login"),
  });
  expect(await serverFinding(other.url)).toMatchObject({
    code: "not_a_model_api",
    message: expect.stringContaining('{"hello":"world"}'),
  });
});

test("a key that is missing, and one that is wrong", async () => {
  await using server = await listening(json(401, { error: { message: "Who are you?" } }));
  expect(await serverFinding(server.url)).toEqual({
    code: "needs_key",
    message: "it requires a key (status 401: Who are you?)",
    advice: expect.stringContaining("Set RONDO_MODEL_API_KEY"),
  });
  const { report } = await reportOf(["--model-url", server.url], { env: { RONDO_MODEL_API_KEY: "secret" } });
  expect(report.servers).toMatchObject([{ code: "wrong_key" }]);
  expect(JSON.stringify(report)).not.toContain("secret");
});

test("a server that hangs", async () => {
  await using server = await listening(() => {});
  expect(await serverFinding(server.url, "--timeout", "0.1")).toEqual({
    code: "hangs",
    message: "it accepts the connection but did not answer within 0.1 s: it hangs, or is very busy",
    advice: expect.stringContaining("--timeout SECONDS"),
  });
});

test("a port that does not speak HTTP", async () => {
  const server: Server = createServer((socket) => socket.end("220 mail ready\r\n"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  expect(await serverFinding(`http://127.0.0.1:${port}/v1`)).toMatchObject({
    code: "not_http",
    message: expect.stringContaining("it does not speak HTTP"),
  });
  server.close();
});

test("an unknown host", async () => {
  expect(await serverFinding("http://nobody.invalid/v1")).toMatchObject({ code: "unknown_host" });
});

test("a server without models", async () => {
  await using server = await startModelServer([], { models: [] });
  expect(await serverFinding(server.url)).toEqual({
    code: "no_models",
    message: "it works, but has no models",
    advice: expect.stringContaining("ollama pull"),
  });
});

test("a server whose models cannot chat: none of them is asked", async () => {
  await using server = await startModelServer([], { models: ["nomic-embed-text", "bge-m3"] });
  expect(await serverFinding(server.url)).toEqual({
    code: "no_chat_models",
    message: "it has no model that can chat, by their names: nomic-embed-text, bge-m3",
    advice: expect.stringContaining("check one of these anyway with --model NAME"),
  });
});

test("a server that fails", async () => {
  await using server = await listening(json(500, { error: "out of memory" }));
  expect(await serverFinding(server.url)).toMatchObject({
    code: "server_error",
    message: "it failed (status 500: out of memory)",
  });
});

test("secrets in an address are not shown", async () => {
  const url = (await deadUrl()).replace("//", "//me:hidden@");
  const { out } = await runDoctor(["--model-url", `${url}?key=hidden`]);
  expect(out).not.toContain("hidden");
});

test("a server that cannot list its models is asked for --model all the same", async () => {
  const routes = { "GET /v1/models": { status: 404 } };
  await using server = await startModelServer(ableModel, { routes });
  const { exitCode, report } = await reportOf(["--model-url", server.url, "--model", "m"]);
  expect(exitCode).toBe(0);
  expect(report.servers).toMatchObject([
    { status: "warning", code: "wrong_url", checked: [{ works: true }] },
  ]);
});

describe("a model", () => {
  async function stepsOf(script: ServerStep, model = "some-model", args: string[] = []) {
    await using server = await startModelServer(script, { models: [model] });
    const { exitCode, report } = await reportOf(["--model-url", server.url, ...args]);
    return { exitCode, steps: report.servers[0]?.checked[0]?.steps ?? [] };
  }
  const able = ableModel as Extract<ServerStep, (...args: never[]) => unknown>;
  /** Able but for what it does when it is offered a tool. */
  const withTool =
    (answer: ServerStep): ServerStep =>
    (request) =>
      JSON.stringify(request.body).includes("tool add") ? (answer as string) : able(request);

  test("that answers but never calls the tool: says which profile was used and what to set", async () => {
    const { exitCode, steps } = await stepsOf(withTool("I think it is 5."));
    expect(exitCode).toBe(1);
    expect(steps.map(({ status }) => status)).toEqual(["ok", "ok", "failed"]);
    expect(steps[2]).toMatchObject({
      code: "no_tool_call",
      message: 'it never called the tool: it answered "I think it is 5."',
    });
    expect(steps[2]?.advice).toMatch(
      /^The profile 'common' was used: .* the dialects hermes, qwen-coder, .*set profile\.toolDialects in the config/,
    );
  });

  test("that writes a call in no known dialect", async () => {
    const { steps } = await stepsOf(withTool('ACTION {"tool": "add", "x": 48213}'));
    expect(steps[2]).toMatchObject({ code: "unread_call", message: expect.stringContaining("ACTION") });
  });

  test("that writes calls in a dialect outside its profile", async () => {
    const call = '<tool_call>{"name": "add", "arguments": {"a": 48213, "b": 90761}}</tool_call>';
    await using server = await startModelServer((request) => {
      const { messages } = request.body as { messages: { content: string }[] };
      return messages.at(-1)?.content.includes("tool add") ? call : able(request);
    });
    using folder = folderWith({
      "rondo.yaml": `endpoints: [{ url: "${server.url}", profile: { toolDialects: [llama] } }]`,
    });
    const { exitCode, report } = await reportOf([], { cwd: folder.path });
    expect(exitCode).toBe(1);
    expect(report.servers[0]?.checked[0]?.steps[2]).toMatchObject({
      code: "other_dialect",
      advice: expect.stringContaining("The profile 'common' includes llama. Set profile.toolDialects"),
    });
  });

  test("that does not use the result", async () => {
    const { steps } = await stepsOf((request) => {
      const { messages } = request.body as { messages: { role: string }[] };
      return messages.at(-1)?.role === "tool" ? "I do not know." : able(request);
    });
    expect(steps[2]).toMatchObject({
      code: "result_not_used",
      message: expect.stringContaining(
        'add(48213, 90761) was called, but the answer does not have the result: "I do not know."',
      ),
    });
  });

  test("whose server refuses tools", async () => {
    const { steps } = await stepsOf(withTool({ status: 400, body: { error: "m does not support tools" } }));
    expect(steps[2]).toMatchObject({
      code: "no_tools",
      message: "it refuses a request with tools (m does not support tools)",
    });
  });

  test("that calls with arguments that cannot be run", async () => {
    const { steps } = await stepsOf(withTool({ calls: [{ name: "add", input: { x: "?" } }] }));
    expect(steps[2]).toMatchObject({ code: "wrong_call", message: expect.stringContaining("add with") });
  });

  test("that streams in one piece works, with a warning", async () => {
    const { exitCode, steps } = await stepsOf((request) => {
      const { messages } = request.body as { messages: { content: string }[] };
      return messages.at(-1)?.content.startsWith("Count") ? "1, 2, 3" : able(request);
    });
    expect(exitCode).toBe(0);
    expect(steps[1]).toMatchObject({ status: "warning", code: "one_piece" });
  });

  test("that answers with nothing, or only thinks", async () => {
    expect((await stepsOf({ text: "" })).steps[1]).toMatchObject({ code: "empty_answer" });
    expect((await stepsOf({ thinking: "Hm.", finishReason: "length" })).steps[1]).toMatchObject({
      status: "warning",
      code: "only_thinking",
    });
  });

  test("that never finishes fails at the time limit, and is not asked again", async () => {
    const { steps } = await stepsOf({ text: "", stall: 0 }, "m", ["--timeout", "0.2"]);
    expect(steps).toMatchObject([
      {
        code: "slow",
        message: "there was no complete answer within 0.2 s",
        advice: expect.stringContaining("--timeout SECONDS"),
      },
    ]);
  });

  test("whose name or answer has control characters cannot drive the terminal", async () => {
    await using server = await startModelServer("\u001b[2Jhello", { models: ["\u001b[31mm"] });
    const { out } = await runDoctor(["--model-url", server.url]);
    expect(out).toContain("hello");
    expect(out).not.toContain("\u001b");
  });
});
