// The set-up of docs/opentelemetry.md with `rondo serve` and a receiver of OTLP; and what is said without the package.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startOtlpReceiver } from "./support/otlp-receiver.ts";
import { repoRoot } from "./support/repo.ts";
import { snippetsIn } from "./support/snippets.ts";

// Inside the repository, so that packages resolve.
const folder = join(repoRoot, ".cache/opentelemetry");
beforeAll(() => {
  mkdirSync(folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = "docs/opentelemetry.md";
const source = "--conditions=rondo-source";
const server = join(repoRoot, "packages/server/src");

test("rondo serve with the set-up of the page sends its spans, the last ones when it stops", {
  timeout: 60_000,
}, async () => {
  const setUp = snippetsIn(page, readFileSync(join(repoRoot, page), "utf8"))[0]?.source ?? "";
  expect(setUp).toContain("setGlobalTracerProvider");
  writeFileSync(join(folder, "otel.ts"), setUp);
  writeFileSync(
    join(folder, "rondo.config.ts"),
    `import { defineConfig } from "@rondo/server"; import { demoModel } from "rondo/demo";
     export default defineConfig({ models: { demo: demoModel() }, telemetry: { otel: true } });`,
  );
  await using receiver = await startOtlpReceiver();
  const flags = [source, "--import", "./otel.ts", join(server, "cli/main.ts")];
  const child = spawn(process.execPath, [...flags, "serve", "--port", "0", "--store", "memory"], {
    cwd: folder,
    env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  try {
    let url: string | undefined;
    for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      said += String(chunk);
      url = / at (http:\S+)\/v1 \(/.exec(said)?.[1];
      if (url !== undefined) break;
    }
    child.stdout.resume();
    const reply = await fetch(`${url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "demo", input: "Hello!" }),
    });
    expect(reply.status).toBe(200);
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
  expect(receiver.spans.map(({ name }) => name).toSorted()).toEqual(["chat demo", "invoke_agent rondo"]);
  expect(receiver.bodies.join()).toContain("my-agents");
  expect(said).not.toContain("go nowhere");
});

test("without @opentelemetry/api all else works, and asking for it says what to install", () => {
  const program = `
    import { registerHooks } from "node:module";
    registerHooks({
      resolve(name, context, next) {
        // A package of the server has it for itself.
        if (name !== "@opentelemetry/api" || context.parentURL.includes("/prom-client/")) return next(name, context);
        throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: "ERR_MODULE_NOT_FOUND" });
      },
    });
    await import("rondo");
    const { startServer } = await import("@rondo/server");
    const config = { port: 0, store: "memory", log: { level: "silent" } };
    await (await startServer(config)).close();
    const message = (promise) => promise.then(() => "it works", (error) => error.message);
    console.log(await message(startServer({ ...config, telemetry: { otel: true } })));
    console.log(await message(import("rondo/otel")));`;
  const { stdout, stderr } = spawnSync(process.execPath, [source, "--input-type=module", "--eval", program], {
    cwd: join(repoRoot, "packages/server"),
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  const [asServer, asLibrary] = stdout.split("\n");
  expect(asServer).toContain("telemetry.otel");
  expect(asServer).toContain("npm install @opentelemetry/api");
  expect(asLibrary).toContain("Cannot find package '@opentelemetry/api'");
});
