import { existsSync } from "node:fs";
import { join } from "node:path";
import { startModelServer } from "rondo/testing";
import { describe, expect, test, vi } from "vitest";
import { ConfigError } from "../../config/config-error.ts";
import { packageVersion } from "../../config/package-version.ts";
import { folderWith } from "../../config/testkit/folder.ts";
import { runCli } from "../program.ts";
import { testIo } from "../testkit/test-io.ts";
import { ableModel, deadUrl, listening, reportOf, runDoctor } from "./testkit/doctor.ts";

const portOf = (url: string) => Number(new URL(url).port);

test("a model that works is shown with its profile and the reason for it, and the exit code is 0", async () => {
  await using server = await startModelServer(ableModel, { models: ["qwen3:8b", "nomic-embed-text"] });
  using folder = folderWith();
  const { out, exitCode } = await runDoctor(["--model-url", server.url], { cwd: folder.path });
  expect(exitCode).toBe(0);
  const lines = out.replace(/\d+\.\d s/g, "N s").split("\n");
  expect(lines).toEqual([
    "Installed",
    `  ✓ Node ${process.versions.node} (needed: 24 or newer)`,
    `  ✓ @rondo/server ${packageVersion()}, rondo ${packageVersion()}`,
    "  ✓ no config file here (rondo.config.ts or rondo.yaml): the defaults apply",
    "  ✓ store sqlite:./rondo.db: does not exist yet; `rondo serve` creates it",
    "  - sandbox: off (sandbox.kind is none)",
    "",
    "Model servers",
    `  ✓ ${server.url} (--model-url): 2 models: qwen3:8b, nomic-embed-text`,
    "    qwen3:8b",
    expect.stringMatching(
      /^ {6}profile qwen3\S*: no known server at http:\S+; model family 'qwen3\S*' by the name 'qwen3:8b'/,
    ),
    '      ✓ answer: it said "pong" (N s)',
    "      ✓ streaming: 2 pieces, the first after N s (N s)",
    "      ✓ tool call: add(48213, 90761), and the answer has the result (N s)",
    "",
    `✓ Works end to end: qwen3:8b at ${server.url}.`,
    "",
  ]);
  expect(existsSync(join(folder.path, "rondo.db"))).toBe(false);
});

test("--json prints one document and nothing else", async () => {
  await using server = await startModelServer(ableModel, { models: ["my-model"] });
  const { report, exitCode } = await reportOf(["--model-url", server.url]);
  expect(exitCode).toBe(0);
  expect(report).toMatchObject({
    ok: true,
    installed: [
      { name: "node" },
      { name: "packages" },
      { name: "config" },
      { name: "store" },
      { name: "sandbox" },
    ],
    servers: [
      {
        type: "model",
        url: server.url,
        source: "--model-url",
        models: ["my-model"],
        checked: [
          {
            model: "my-model",
            works: true,
            profile: { name: "common", reason: expect.stringContaining("no known model family") },
            steps: [{ step: "answer" }, { step: "stream" }, { step: "tool" }],
          },
        ],
      },
    ],
    result: { status: "ok" },
  });
});

describe("on a terminal", () => {
  test("there are colours, and a progress line that is removed", async () => {
    const open = Promise.withResolvers<void>();
    await using server = await startModelServer(async (request) => {
      await open.promise;
      return (ableModel as (it: typeof request) => string)(request);
    });
    const io = testIo({ output: { isTTY: true, columns: 200 }, env: { NO_COLOR: "" } });
    const ended = runCli(["doctor", "--model-url", server.url, "--timeout", "60"], io);
    const isAsking = () => expect(io.out).toMatch(/asking for an answer .*, up to 60 s/);
    await vi.waitFor(isAsking, { timeout: 10_000 });
    open.resolve();
    expect(await ended).toBe(0);
    const { out } = io;
    expect(out).toContain("\u001b[32m✓\u001b[39m");
    const lastDrawn = out.lastIndexOf("up to 60 s");
    expect(out.indexOf("\r\u001b[K", lastDrawn)).toBeGreaterThan(lastDrawn);
  });

  test("NO_COLOR removes the colours", async () => {
    const args = ["--model-url", await deadUrl()];
    const { out } = await runDoctor(args, { output: { isTTY: true }, env: { NO_COLOR: "1" } });
    expect(out).toContain("✗ http");
    expect(out).not.toContain("\u001b[3");
  });
});

describe("without --model-url", () => {
  test("the usual ports are checked: servers that answer are shown, missing ones are left out", async () => {
    await using ollama = await startModelServer(ableModel, { models: ["llama3.2"] });
    await using page = await listening((_, response) => void response.end("<html>Shop</html>"));
    const places = {
      modelPorts: { ollama: portOf(ollama.url), lmstudio: portOf(await deadUrl()), llamacpp: page.port },
      rondoPort: 0,
    };
    const { exitCode, report } = await reportOf([], { places });
    expect(exitCode).toBe(0);
    expect(report.servers).toMatchObject([
      { source: "the usual place of Ollama", status: "ok", checked: [{ works: true }] },
      { source: "the usual place of llama.cpp", status: "warning", code: "web_page" },
    ]);
  });

  test("without any server it says where it looked and what to do", async () => {
    const dead = portOf(await deadUrl());
    const { out, exitCode } = await runDoctor([], { places: { modelPorts: { vllm: dead }, rondoPort: 0 } });
    expect(exitCode).toBe(1);
    expect(out).toContain(`Model servers\n  None. Looked at http://localhost:${dead}/v1.\n`);
    expect(out).toContain("✗ No model could be asked.\n  → Start a model server");
  });

  test("endpoints and models of the config are checked, RONDO_MODEL_URL instead of the endpoints", async () => {
    await using first = await startModelServer(ableModel, { models: ["a", "b"] });
    await using second = await startModelServer(ableModel, { models: ["c"] });
    using folder = folderWith({
      "rondo.yaml": `
store: memory
endpoints: [{ url: "${await deadUrl()}" }, { url: "${first.url}", server: vllm, profile: { toolDialects: [hermes] } }]
models: { mine: { url: "${second.url}", model: c } }
`,
    });
    const { report } = await reportOf([], { cwd: folder.path });
    expect(report.installed.map(({ message }) => message)).toContain("config rondo.yaml is valid");
    expect(report.servers).toMatchObject([
      { source: "endpoints[0] of the config", code: "dead_port" },
      {
        source: "endpoints[1] of the config",
        checked: [
          { model: "a", works: true, profile: { name: "vllm", toolDialects: ["hermes"] } },
          { model: "b", works: true },
        ],
      },
      { source: "models.mine of the config", checked: [{ model: "c", works: true }] },
    ]);
    const other = await reportOf([], { cwd: folder.path, env: { RONDO_MODEL_URL: second.url } });
    expect(other.report.servers.map(({ source }) => source)).toEqual([
      "RONDO_MODEL_URL",
      "models.mine of the config",
    ]);
  });

  test("a model that the config makes in code is checked too", async () => {
    using folder = folderWith({
      "rondo.config.js": `
        const said = (text) => ({ type: "text.delta", text });
        export default { store: "memory", models: { parrot: {
          name: "parrot", endpoint: "parrot://home", profile: { name: "parrot", toolDialects: [] },
          async *stream({ tools = [], messages }) {
            if (tools.length === 0 || messages.at(-1).role === "tool") yield* [said("1389"), said("74")];
            else yield { type: "call.ended", id: "1", name: "add", arguments: '{"a":48213,"b":90761}', isTruncated: false };
            yield { type: "finished", finishReason: "stop", usage: undefined };
          },
        } } };`,
    });
    const { exitCode, report } = await reportOf([], { cwd: folder.path });
    expect(exitCode).toBe(0);
    expect(report.servers).toMatchObject([{ url: "parrot://home", checked: [{ works: true }] }]);
  });
});

describe("which models", () => {
  test("the first few, or --model alone, also without its :latest", async () => {
    const models = ["a", "b:latest", "c", "d"];
    await using server = await startModelServer(ableModel, { models });
    const checked = async (...args: string[]) => {
      const { report } = await reportOf(["--model-url", server.url, ...args]);
      return report.servers[0]?.checked.map(({ model }) => model);
    };
    expect(await checked()).toEqual(["a", "b:latest", "c"]);
    expect(await checked("--max-models", "1")).toEqual(["a"]);
    expect(await checked("--model", "b")).toEqual(["b:latest"]);
  });

  test("a missing model is reported with those that the server has", async () => {
    await using server = await startModelServer([], { models: ["a", "b"] });
    const { exitCode, report } = await reportOf(["--model-url", server.url, "--model", "z"]);
    expect(exitCode).toBe(1);
    expect(report.servers).toMatchObject([
      { code: "model_missing", message: "it has no model z, only a, b", checked: [] },
    ]);
  });
});

describe("a config that cannot be used", () => {
  test("is reported, and servers of the environment are checked all the same", async () => {
    await using server = await startModelServer(ableModel);
    using folder = folderWith({ "rondo.yaml": "port: x\n" });
    const { exitCode, report } = await reportOf([], {
      cwd: folder.path,
      env: { RONDO_MODEL_URL: server.url },
    });
    expect(exitCode).toBe(0);
    expect(report.installed).toMatchObject([
      {},
      {},
      { status: "failed", code: "invalid_config", message: expect.stringContaining("rondo.yaml line 1") },
      { status: "skipped" },
      { status: "skipped" },
    ]);
  });

  test.each([[["--model-url", "nonsense"]], [["--server", "nonsense"]]])(
    "by a flag is wrong usage: %j",
    async (args) => {
      await expect(runDoctor(args)).rejects.toThrow(ConfigError);
    },
  );
});

test("flags that make no sense are refused, and --help has examples", async () => {
  for (const args of [
    ["--timeout", "0"],
    ["--timeout", "x"],
    ["--max-models", "0"],
    ["--modl", "x"],
  ]) {
    const io = testIo();
    expect(await runCli(["doctor", ...args], io)).toBe(2);
    expect(io.err).toContain(args[0]);
  }
  const io = testIo();
  expect(await runCli(["doctor", "--help"], io)).toBe(0);
  expect(io.out).toContain("rondo doctor --model-url http://localhost:8000/v1");
});

test("Ctrl-C ends it with 130, in the middle of a request", async () => {
  const asked = Promise.withResolvers<void>();
  await using server = await startModelServer(() => {
    asked.resolve();
    return { text: "", stall: 0 };
  });
  const io = testIo();
  const ended = runCli(["doctor", "--model-url", server.url], io);
  await asked.promise;
  io.stop();
  expect(await ended).toBe(130);
  expect(io.listenerCount).toBe(0);
});

test("the line of the tool call says how much of the second prompt the server had cached", async () => {
  await using server = await startModelServer(ableModel, { models: ["my-model"], countsPrompts: true });
  const { out } = await runDoctor(["--model-url", server.url]);
  expect(out).toMatch(/the answer has the result; of the second prompt's \d+ tokens, [1-9]\d* were cached/);
});
