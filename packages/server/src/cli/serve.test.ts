import { startModelServer } from "rondo/testing";
import { describe, expect, test, vi } from "vitest";
import type { FoundServer } from "../config/discover.ts";
import type { ServerConfig } from "../config/schema.ts";
import { settings } from "../config/settings.ts";
import { folderWith } from "../config/testkit/folder.ts";
import { type CheckEndpoints, checkEndpoints } from "./check-endpoints.ts";
import { runCli } from "./program.ts";
import { serveCommand } from "./serve.ts";
import { testIo } from "./testkit/test-io.ts";

const url = "http://localhost:11434/v1";

/** Runs `serve` with a server that only notes what it is told. */
function serving(
  args: readonly string[],
  io = testIo(),
  found: readonly FoundServer[] = [],
  check: CheckEndpoints = async (config) => ({ config, warnings: new Map() }),
) {
  const configs: ServerConfig[] = [];
  const closing = Promise.withResolvers<void>();
  let closeCount = 0;
  const start = async (config: ServerConfig) => {
    configs.push(config);
    return {
      url: "http://127.0.0.1:4500",
      close: () => {
        closeCount += 1;
        return closing.promise;
      },
    };
  };
  const command = serveCommand(io, { start, discover: async () => found, check });
  const done = command.parseAsync(args, { from: "user" });
  return { io, configs, closing, done, closeCount: () => closeCount };
}

test("starts a server with the flags, and prints one line with its URL", async () => {
  const io = testIo({ env: { RONDO_STORE: "memory", RONDO_PORT: "81" } });
  const { configs, closing, done } = serving(
    ["--model-url", "http://me:pw@gpu:8000/v1?k=1", "--port", "82", "--log", "warn"],
    io,
  );
  await io.written;
  expect(configs).toMatchObject([{ port: 82, store: "memory", log: { level: "warn" } }]);
  expect(io.out).toBe(
    "Rondo serves all models of http://gpu:8000/v1 at http://127.0.0.1:4500/v1 (store: memory; no key needed).\n",
  );
  closing.resolve();
  io.stop();
  await done;
});

test("leaves standard output to the audit log, if that goes there", async () => {
  const { io, configs, closing, done } = serving(["--model-url", url, "--audit", "stdout"]);
  closing.resolve();
  await vi.waitFor(() => expect(io.err).toContain("Rondo serves all models of"));
  io.stop();
  await done;
  expect(io.out).toBe("");
  expect(configs).toMatchObject([{ audit: "stdout", onAuditFailure: "refuse" }]);
});

test("prints the models of the config file, and that a key is needed", async () => {
  using folder = folderWith({
    "my.yaml": `
models: { big: { url: "${url}" }, small: { url: "${url}" } }
endpoints: [{ url: "${url}" }]
auth: { keys: [{ owner: a, hash: "sha256:${"0".repeat(64)}" }] }
`,
  });
  const { io, closing, done } = serving(["--config", "my.yaml"], testIo({ cwd: folder.path }));
  await io.written;
  expect(io.out).toBe(
    `Rondo serves big, small and all models of ${url} at http://127.0.0.1:4500/v1 (store: sqlite:./rondo.db; key needed).\n`,
  );
  closing.resolve();
  io.stop();
  await done;
});

test("takes the flags of several servers, and shows no password", async () => {
  const store = "postgres://rondo:s%40cret@db/rondo?sslmode=disable";
  const args = ["--model-url", url, "--store", store, "--no-worker", "--no-migrate", "--concurrency", "2"];
  const { io, configs, closing, done } = serving(args);
  await io.written;
  expect(configs).toMatchObject([
    { store, runs: { enabled: false, concurrency: 2 }, postgres: { migrate: false } },
  ]);
  expect(io.out).toContain("(store: postgres://rondo@db/rondo; no key needed; background runs: elsewhere).");
  closing.resolve();
  io.stop();
  await done;
});

describe("a model server of the config", () => {
  const started = async (modelUrl: string, args: readonly string[] = ["--model-url", modelUrl], env = {}) => {
    const { io, configs, closing, done } = serving(args, testIo({ env }), [], checkEndpoints);
    await io.written;
    const { out, err } = io;
    closing.resolve();
    io.stop();
    await done;
    return { out, err, config: configs[0] };
  };

  test("that does not answer is reported, and the server starts", async () => {
    const dead = "http://127.0.0.1:9/v1";
    const { out, err, config } = await started(dead);
    expect(out).toContain(`Rondo serves all models of ${dead} at`);
    expect(err).toBe(
      `rondo: No model server answers at ${dead}, so requests for its models will fail. Start it (Ollama: \`ollama serve\`), or correct the URL. \`rondo doctor --model-url ${dead}\` tells more.\n`,
    );
    expect(config?.endpoints).toMatchObject([{ url: dead }]);
  });

  test("that answers is not mentioned", async () => {
    await using model = await startModelServer([]);
    expect((await started(model.url)).err).toBe("");
  });

  test("whose URL has no /v1 is used with it, and the output says so", async () => {
    await using model = await startModelServer([]);
    const bare = model.url.replace(/\/v1$/, "");
    const { err, config } = await started(bare);
    expect(config?.endpoints).toMatchObject([{ url: model.url }]);
    expect(err).toBe(
      `rondo: There is no model API at ${bare}, but there is one at ${model.url}, which is used. Correct the URL.\n`,
    );
    const byVariable = await started(bare, ["--store", "memory"], { RONDO_MODEL_URL: bare });
    expect(byVariable.config?.endpoints).toMatchObject([{ url: model.url }]);
  });

  test("that rejects the key is reported with where to set it", async () => {
    await using model = await startModelServer([], { routes: { "GET /v1/models": { status: 401 } } });
    expect((await started(model.url)).err).toContain("requires another key. Set apiKey beside its url");
  });
});

describe("Ctrl-C", () => {
  test("shuts down gracefully, with a message, and leaves no listener behind", async () => {
    const { io, closing, done, closeCount } = serving(["--model-url", url]);
    await io.written;
    expect(closeCount()).toBe(0);
    io.stop();
    expect(io.err).toBe("Stopping: running requests get up to 10 s. Press Ctrl-C again to leave at once.\n");
    closing.resolve();
    await done;
    expect(closeCount()).toBe(1);
    expect(io.exitCodes).toEqual([]);
    expect(io.listenerCount).toBe(0);
  });

  test("a second time ends the process at once", async () => {
    const { io, closing, done } = serving(["--model-url", url]);
    await io.written;
    io.stop();
    io.stop();
    expect(io.exitCodes).toEqual([1]);
    closing.resolve();
    await done;
  });

  test("before the server started is not lost", async () => {
    const io = testIo();
    const started = Promise.withResolvers<void>();
    const start = async () => {
      io.stop();
      await started.promise;
      return { url: "http://127.0.0.1:1", close: async () => {} };
    };
    const command = serveCommand(io, { start, check: async (config) => ({ config, warnings: new Map() }) });
    const done = command.parseAsync(["--model-url", url], { from: "user" });
    started.resolve();
    await done;
    expect(io.err).toContain("Stopping");
  });
});

describe("is refused with exit code 2:", () => {
  test.each([
    ["a wrong flag", ["--port", "x"], "port (the flag --port): expected a whole number from 0 to 65535"],
    [
      "an open address without auth",
      ["--model-url", url, "--host", "0.0.0.0"],
      "Make a key with `rondo key`",
    ],
    ["a misspelt flag", ["--prot", "1"], "(Did you mean --port?)"],
    ["a flag without its value", ["--port"], "argument missing"],
    ["more than flags", ["http://a"], "too many arguments"],
    ["a config file that is not there", ["--config", "no.yaml"], "there is no such file"],
  ])("%s", async (_, args, expected) => {
    const io = testIo();
    expect(await runCli(["serve", ...args], io)).toBe(2);
    expect(io.err).toContain(expected);
    expect(io.out).toBe("");
    expect(io.listenerCount).toBe(0);
  });
});

test("its help has every flag with its variable and default", async () => {
  const io = testIo();
  expect(await runCli(["serve", "--help"], io)).toBe(0);
  const help = io.out.replace(/\s+/g, " ");
  const flags = settings.flatMap(({ flag, command }) => (command === "worker" ? [] : (flag ?? [])));
  expect(flags).toContain("--port <number>");
  expect([...flags, "--model-url <url>", "--config <file>"].filter((flag) => !help.includes(flag))).toEqual(
    [],
  );
  expect(help).toContain("(RONDO_PORT; default: 4500)");
  expect(help).not.toContain("`");
});

describe("without endpoints and models", () => {
  const welcomed = async (found: readonly FoundServer[], env: Record<string, string> = {}) => {
    const { io, configs, closing, done } = serving(["--store", "memory"], testIo({ env }), found);
    await io.written;
    closing.resolve();
    io.stop();
    await done;
    return { out: io.out, config: configs[0] };
  };

  test("the models of this machine are served, and printed", async () => {
    const { out, config } = await welcomed([
      { kind: "ollama", url, models: ["qwen3:8b", "a", "b", "c"] },
      { kind: "lmstudio", url: "http://localhost:1234/v1", models: [] },
    ]);
    expect(config?.endpoints).toMatchObject([{ url, server: "ollama" }]);
    expect(out).toContain(`Ollama answers at ${url}: qwen3:8b, a, b and 1 more.`);
    expect(out).toContain("LM Studio answers at http://localhost:1234/v1, but has no models yet.");
    expect(out).toContain(`-d '{"model":"qwen3:8b","input":"What is 25 + 17?"}'`);
    expect(out).toContain("chat --server http://127.0.0.1:4500");
    expect(out).toContain("Open http://127.0.0.1:4500/ in a browser");
  });

  test("without the console, no page is named", async () => {
    const { out } = await welcomed([], { RONDO_CONSOLE: "false" });
    expect(out).toContain("Try it, in another terminal");
    expect(out).not.toContain("in a browser");
  });

  test("models that cannot chat are not suggested", async () => {
    const { out, config } = await welcomed([
      { kind: "ollama", url, models: ["nomic-embed-text", "qwen3:8b"] },
    ]);
    expect(out).toContain(`Ollama answers at ${url}: qwen3:8b.`);
    expect(out).toContain(`-d '{"model":"qwen3:8b",`);
    expect(Object.keys(config?.models ?? {})).toEqual([]);
  });

  test("the demo model is served beside models of which none can chat", async () => {
    const { out, config } = await welcomed([{ kind: "ollama", url, models: ["nomic-embed-text"] }]);
    expect(config?.endpoints).toMatchObject([{ url }]);
    expect(Object.keys(config?.models ?? {})).toEqual(["demo"]);
    expect(out).toContain(`Ollama answers at ${url}, but has no model that can chat: nomic-embed-text.`);
    expect(out).toContain(`-d '{"model":"demo",`);
  });

  test("--demo serves the demo model beside the others", async () => {
    const { io, configs, closing, done } = serving(["--demo", "--model-url", url]);
    await io.written;
    closing.resolve();
    io.stop();
    await done;
    expect(io.out).toContain(`Rondo serves demo and all models of ${url} at`);
    expect(configs[0]?.endpoints).toMatchObject([{ url }]);
  });

  test("the demo model is served if there is none, and the output says so", async () => {
    const { out, config } = await welcomed([]);
    expect(Object.keys(config?.models ?? {})).toEqual(["demo"]);
    expect(out).toContain("No model server answers on this machine");
    expect(out).toContain(`"model":"demo"`);
  });

  test("a server that the environment names is not replaced by the demo model, and reported if it does not answer", async () => {
    const { out, config } = await welcomed([], { RONDO_MODEL_URL: url });
    expect(config?.endpoints).toMatchObject([{ url }]);
    expect(out).toContain(`No model answers at ${url} (RONDO_MODEL_URL) yet.`);
    expect(out).not.toContain("demo");
  });

  test("other servers are served beside a named one that does not answer", async () => {
    const other = { kind: "lmstudio", url: "http://localhost:1234/v1", models: ["tiny"] } as const;
    const { out } = await welcomed([other], { RONDO_MODEL_URL: url });
    expect(out).toContain(`No model answers at ${url} (RONDO_MODEL_URL) yet.`);
    expect(out).toContain(`-d '{"model":"tiny","input":"What is 25 + 17?"}'`);
  });
});
