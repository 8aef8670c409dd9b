// A Rondo server is checked through its own API.
import { createHash } from "node:crypto";
import { startModelServer } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { packageVersion } from "../../config/package-version.ts";
import type { ConfigInput } from "../../config/schema.ts";
import { startServer } from "../../http/server.ts";
import { ableModel, deadUrl, listening, reportOf, runDoctor } from "./testkit/doctor.ts";

async function startRondo(config: ConfigInput) {
  const server = await startServer({ port: 0, store: "memory", log: { level: "silent" }, ...config });
  return { url: server.url, port: server.port, [Symbol.asyncDispose]: () => server.close() };
}

test("one that works answers, streams and calls a tool, and stores nothing", async () => {
  await using model = await startModelServer(ableModel, { models: ["qwen3:8b"] });
  await using rondo = await startRondo({ endpoints: [{ url: model.url }] });
  const { out, exitCode } = await runDoctor(["--server", rondo.url]);
  const lines = out.replace(/\d+\.\d s/g, "N s").split("\n");
  expect(lines.slice(lines.indexOf("Rondo server"))).toEqual([
    "Rondo server",
    `  ✓ ${rondo.url}/v1 (--server): Rondo ${packageVersion()} with qwen3:8b`,
    "    qwen3:8b",
    '      ✓ answer: it said "pong" (N s)',
    "      ✓ streaming: 2 pieces, the first after N s (N s)",
    "      ✓ tool call: add(48213, 90761), and the answer has the result (N s)",
    "",
    `✓ Works end to end: qwen3:8b at ${rondo.url}/v1.`,
    "",
  ]);
  expect(out).not.toContain("Model servers");
  expect(exitCode).toBe(0);
  const kept = await fetch(`${rondo.url}/v1/responses`);
  expect(await kept.json()).toMatchObject({ data: [] });
});

test("one at the usual port is found, and one that RONDO_SERVER names", async () => {
  await using model = await startModelServer(ableModel, { models: ["m"] });
  await using rondo = await startRondo({ endpoints: [{ url: model.url }] });
  const usual = await reportOf([], { places: { modelPorts: {}, rondoPort: rondo.port } });
  const named = await reportOf([], { env: { RONDO_SERVER: `${rondo.url}/v1/` } });
  expect([usual.exitCode, named.exitCode]).toEqual([0, 0]);
  expect(usual.report.servers).toMatchObject([{ type: "rondo", source: "the usual place of Rondo" }]);
  expect(named.report.servers).toMatchObject([{ type: "rondo", source: "RONDO_SERVER" }]);
});

test("another program at the usual port is ignored", async () => {
  await using page = await listening((_, response) => void response.end("<html>"));
  const { report } = await reportOf([], { places: { modelPorts: {}, rondoPort: page.port } });
  expect(report.servers).toEqual([]);
});

test("one that requires a key, without and with it", async () => {
  await using model = await startModelServer(ableModel, { models: ["m"] });
  const hash = `sha256:${createHash("sha256").update("rondo_secret").digest("hex")}` as const;
  await using rondo = await startRondo({
    endpoints: [{ url: model.url }],
    auth: { keys: [{ owner: "me", hash }] },
  });
  const without = await reportOf(["--server", rondo.url]);
  expect(without.exitCode).toBe(1);
  expect(without.report.servers).toMatchObject([
    {
      code: "needs_key",
      message: expect.stringContaining(`Rondo ${packageVersion()}, but it requires a key (status 401`),
      advice: expect.stringContaining("RONDO_API_KEY"),
    },
  ]);
  const withKey = await reportOf(["--server", rondo.url], { env: { RONDO_API_KEY: "rondo_secret" } });
  expect(withKey.exitCode).toBe(0);
});

describe("is told apart from", () => {
  async function finding(url: string, ...args: string[]) {
    const { exitCode, report } = await reportOf(["--server", url, ...args]);
    expect(exitCode).toBe(1);
    return report.servers[0];
  }

  test("a dead port", async () => {
    expect(await finding(await deadUrl())).toMatchObject({
      code: "dead_port",
      advice: "Start it with `rondo serve`, or name the one that runs with --server URL.",
    });
  });

  test("a web page", async () => {
    await using page = await listening((_, response) => void response.end("<html>"));
    expect(await finding(page.url)).toMatchObject({ code: "web_page" });
  });

  test("a model server", async () => {
    await using model = await startModelServer([], { models: ["m"] });
    expect(await finding(model.url)).toMatchObject({
      code: "not_rondo",
      advice: `If it is a model server, use --model-url ${model.url}.`,
    });
  });

  test("one that hangs", async () => {
    await using silent = await listening(() => {});
    expect(await finding(silent.url, "--timeout", "0.1")).toMatchObject({ code: "hangs" });
  });
});

test("one whose model server is dead", async () => {
  await using rondo = await startRondo({ endpoints: [{ url: await deadUrl() }] });
  const { report } = await reportOf(["--server", rondo.url]);
  expect(report.servers).toMatchObject([
    { code: "no_models", message: expect.stringContaining("none of its model servers answers") },
  ]);
});

test("one whose model fails, in the server's own words, or is missing", async () => {
  await using model = await startModelServer({ status: 400, body: { error: "no room" } }, { models: ["m"] });
  await using rondo = await startRondo({ endpoints: [{ url: model.url }] });
  const { report } = await reportOf(["--server", rondo.url]);
  expect(report.servers[0]?.checked[0]?.steps).toMatchObject([
    { step: "answer", status: "failed", message: expect.stringContaining("no room") },
    { step: "stream", status: "failed", message: expect.stringContaining("no room") },
  ]);
  const other = await reportOf(["--server", rondo.url, "--model", "z"]);
  expect(other.report.servers).toMatchObject([{ code: "model_missing" }]);
});
