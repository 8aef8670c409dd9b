// The folder tree is the architecture: imports point down the layers, and the library's root runs anywhere.
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  cycles,
  packagesImported,
  packagesLoadedWith,
  reachableFrom,
  wrongDirections,
} from "./support/architecture.ts";
import { exportsEverythingOf } from "./support/imports.ts";
import { repoRoot } from "./support/repo.ts";

const library = join(repoRoot, "packages/rondo");
const libraryTree = join(library, "src");
const libraryEntry = join(libraryTree, "index.ts");

const foundation = ["error", "json", "async", "registry", "hook", "context", "trace"];
const libraryLayers = {
  below: {
    error: [],
    json: ["error"],
    async: ["error", "json"],
    trace: ["error", "json"],
    registry: ["error"],
    hook: ["error", "json", "async", "registry"],
    context: ["error", "json", "async", "registry", "hook"],
    tool: foundation,
    turn: [...foundation, "tool"],
    agent: [...foundation, "tool", "turn"],
    // Models describe tools to a server, and do not know what runs them.
    model: ["error", "async", "json", "trace", "tool"],
    loop: [...foundation, "tool", "turn", "agent", "model"],
    // A conversation is stored in the words of the models.
    session: ["error", "json", "model"],
    client: [...foundation, "tool", "turn", "agent", "model", "loop", "session"],
    demo: ["error", "async", "json", "tool", "model"],
    testing: ["error", "async", "json", "tool", "model"],
    sandbox: ["error", "json", "async", "tool", "turn"],
    // From the models, only the type of a fetch function.
    mcp: ["error", "json", "async", "tool", "turn", "model"],
    otel: ["json", "model", "trace"],
  },
  vocabulary: [
    "hook/events.ts",
    "registry/registry.ts",
    "trace/trace.ts",
    "tool/tool-context.ts",
    "turn/turn-options.ts",
    "agent/agent-options.ts",
    "agent/agent-values.ts",
    "agent/agent.ts",
    "agent/thinking.ts",
  ],
  entries: ["index.ts", "loop.ts", "models.ts", "budget.ts", "errors.ts", "sessions.ts"],
};

const serverTree = join(repoRoot, "packages/server/src");
const serverLayers = {
  below: {
    // Which hosts are private: used where requests are parsed, and where this server connects to others.
    net: [],
    // What happened, as lines: written by all below, and read by its command.
    audit: ["protocol"],
    protocol: ["net"],
    store: ["protocol"],
    executor: ["net", "protocol"],
    config: ["protocol", "store", "executor"],
    engine: ["protocol", "audit", "store", "executor"],
    run: ["protocol", "audit", "store", "executor", "engine"],
    // Whether models work: for the command, and for the console.
    check: ["config"],
    http: ["protocol", "audit", "store", "executor", "config", "check", "engine", "run"],
    cli: ["protocol", "audit", "store", "config", "check", "http"],
    // Tests only: real clients, and the API's public schema.
    conformance: ["protocol", "store", "executor", "config", "engine", "run", "http"],
  },
  // A run uses the models of the config, and nothing else of it.
  vocabulary: ["run/planner.ts", "run/responses.ts"],
  entries: ["index.ts"],
};

describe("the server", () => {
  test("imports only down the layers", () => {
    expect(wrongDirections(serverTree, serverLayers)).toEqual([]);
  });

  test("has no import cycles at run time", () => {
    expect(cycles(serverTree)).toEqual([]);
  });

  test("uses only what the library exports", () => {
    const inside = globSync("**/*.ts", { cwd: serverTree }).filter((file) =>
      /["'](\.\.\/)+rondo|["']rondo\/(?!(?:budget|demo|errors|loop|mcp|models|otel|private-address|sandbox|sandbox-suite|sessions|testing)["'])/.test(
        readFileSync(join(serverTree, file), "utf8"),
      ),
    );
    expect(inside).toEqual([]);
  });

  test("imports only packages that it depends on", () => {
    const manifest = JSON.parse(readFileSync(join(repoRoot, "packages/server/package.json"), "utf8"));
    // The library's peers are installed by the users of rondo/mcp and rondo/otel.
    const needed = new Set([
      ...packagesImported(serverTree),
      "@modelcontextprotocol/client",
      "@opentelemetry/api",
      "hono", // a peer of the adapter for MCP over HTTP
    ]);
    const allowed = { ...manifest.dependencies, ...manifest.peerDependencies };
    expect([...needed].toSorted()).toEqual(Object.keys(allowed).toSorted());
  });

  test("loads what only some configs and requests need when they do", () => {
    const loaded = packagesLoadedWith(join(serverTree, "http/server.ts"));
    expect(loaded).toContain("prom-client");
    expect(
      loaded.filter((name) =>
        /^(?:jose|pg|pg-boss|hono|@hono|@modelcontextprotocol|@opentelemetry)\b/.test(name),
      ),
    ).toEqual([]);
  });

  test("does not load Node's fetch, for requests with a key neither", () => {
    const file = (path: string) => JSON.stringify(join(serverTree, path));
    // By `import`, `node:http` would load it.
    const program = `
      const { get } = process.getBuiltinModule("node:http");
      const { startServer } = await import(${file("http/server.ts")});
      const { resolveConfig } = await import(${file("config/check-config.ts")});
      const { hashKey, newKey } = await import(${file("http/auth-keys.ts")});
      const key = newKey();
      const auth = { keys: [{ owner: "ann", hash: hashKey(key) }] };
      const endpoints = [{ url: "http://127.0.0.1:9/v1" }];
      const server = await startServer(resolveConfig({ port: 0, store: "memory", endpoints, auth }));
      get(server.url + "/v1/responses", { headers: { authorization: "Bearer " + key } }, ({ statusCode }) => {
        console.log("status", statusCode);
        console.log(process.moduleLoadList.join("\\n"));
        process.exit();
      });`;
    const { stdout } = spawnSync(
      process.execPath,
      ["--conditions=rondo-source", "--input-type=module", "--eval", program],
      { cwd: repoRoot, encoding: "utf8" },
    );
    expect(stdout).toContain("status 200");
    expect(stdout).toContain("NativeModule _http_server");
    expect(stdout).not.toContain("undici");
  });
});

const consoleTree = join(repoRoot, "packages/console/src");
const belowPages = ["api", "ui", "shell"];
const consoleLayers = {
  below: {
    api: [],
    ui: ["api"],
    shell: ["api", "ui"],
    // A page knows no other page: links lead from one to the other.
    home: belowPages,
    chat: belowPages,
    runs: belowPages,
    tools: belowPages,
    models: belowPages,
    system: belowPages,
    reference: belowPages,
  },
  vocabulary: [],
  entries: ["main.tsx", "pages.ts"],
};

describe("the console", () => {
  test("imports only down the layers", () => {
    expect(wrongDirections(consoleTree, consoleLayers)).toEqual([]);
  });

  test("has no import cycles at run time", () => {
    expect(cycles(consoleTree)).toEqual([]);
  });

  test("imports a few packages for browsers, and nothing of the server or the library", () => {
    const allowed = ["@preact/signals", "dompurify", "eventsource-parser", "marked", "preact", "uplot"];
    expect(packagesImported(consoleTree).filter((name) => !allowed.includes(name))).toEqual([]);
  });
});

describe("the library", () => {
  test("imports only down the layers", () => {
    expect(wrongDirections(libraryTree, libraryLayers)).toEqual([]);
  });

  test("has no import cycles at run time", () => {
    expect(cycles(libraryTree)).toEqual([]);
  });

  test.each([
    ["rondo", libraryEntry],
    ["rondo/demo", join(libraryTree, "demo/index.ts")],
  ])("needs no Node built-in, directly or through its dependencies: %s", (_name, entry) => {
    const chains = [...reachableFrom(entry)].filter(([file]) => file.startsWith("node:"));
    expect(chains.map(([, chain]) => chain.join(" → "))).toEqual([]);
  });

  test("loads without process and Buffer", () => {
    const program = `delete globalThis.process; delete globalThis.Buffer; await import("rondo");`;
    const { status, stderr } = spawnSync(
      process.execPath,
      ["--conditions=rondo-source", "--input-type=module", "--eval", program],
      { cwd: repoRoot, encoding: "utf8" },
    );
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });

  test("depends on one package and three optional peers, and imports no other", () => {
    const manifest = JSON.parse(readFileSync(join(library, "package.json"), "utf8"));
    const packages = ["eventsource-parser"];
    expect(Object.keys(manifest.dependencies)).toEqual(packages);
    const peers = ["@kubernetes/client-node", "@modelcontextprotocol/client", "@opentelemetry/api"];
    expect(Object.keys(manifest.peerDependencies)).toEqual(peers);
    const optional = Object.fromEntries(peers.map((peer) => [peer, { optional: true }]));
    expect(manifest.peerDependenciesMeta).toEqual(optional);
    expect(manifest).not.toHaveProperty("optionalDependencies");
    expect(packagesImported(libraryTree)).toEqual([...packages, ...peers].toSorted());
  });

  test.each([
    ["mcp", "@modelcontextprotocol/client"],
    ["otel", "@opentelemetry/api"],
    ["sandbox", "@kubernetes/client-node"],
  ])("needs its peer only for rondo/%s: %s", (owner, peer) => {
    const folders = Object.keys(libraryLayers.below).filter((folder) => folder !== owner);
    const packages = folders.flatMap((folder) => packagesImported(join(libraryTree, folder)));
    expect(packages).not.toContain(peer);
    const loaded = [...reachableFrom(libraryEntry).keys()];
    expect(loaded.filter((file) => file.includes(`/src/${owner}/`))).toEqual([]);
  });

  test("needs no package below the models", () => {
    const folders = [...foundation, "tool", "turn", "agent"];
    const packages = folders.flatMap((folder) => packagesImported(join(libraryTree, folder)));
    expect(packages).toEqual([]);
  });

  test.each([
    ["node", "http-node"],
    ["default", "http-fetch"],
    ["browser", "http-fetch"],
    ["workerd", "http-fetch"],
    ["bun", "http-fetch"],
    ["deno", "http-fetch"],
  ])("uses for HTTP on the runtime '%s' the file %s", (runtime, file) => {
    const { imports } = JSON.parse(readFileSync(join(library, "package.json"), "utf8"));
    const runtimes = Object.keys(imports["#http"]);
    expect(runtimes).toEqual(["types", "workerd", "bun", "deno", "browser", "node", "default"]);
    const choice = imports["#http"][runtime];
    const files = typeof choice === "string" ? [choice] : Object.values(choice);
    for (const path of files) expect(path).toMatch(new RegExp(`/model/http/${file}\\.[jt]s$`));
  });

  test.each([
    ["node", "folder/default-store"],
    ["bun", "folder/default-store"],
    ["deno", "folder/default-store"],
    ["default", "no-default-store"],
    ["browser", "no-default-store"],
    ["workerd", "no-default-store"],
  ])("stores sessions by default on the runtime '%s' by the file %s", (runtime, file) => {
    const { imports } = JSON.parse(readFileSync(join(library, "package.json"), "utf8"));
    const choice = imports["#sessions"][runtime];
    const files = typeof choice === "string" ? [choice] : Object.values(choice);
    for (const path of files) expect(path).toMatch(new RegExp(`/session/${file}\\.[jt]s$`));
  });

  test("exports by name", () => {
    expect(exportsEverythingOf(libraryEntry)).toBe(false);
  });
});

describe("the architecture rules detect", () => {
  let tree = "";
  afterEach(() => rmSync(tree, { recursive: true }));

  function treeOf(files: Record<string, string>): string {
    tree = mkdtempSync(join(tmpdir(), "rondo-architecture-"));
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(tree, file)), { recursive: true });
      writeFileSync(join(tree, file), text);
    }
    return tree;
  }

  const layers = { below: { low: [], high: ["low"] }, vocabulary: [], entries: ["index.ts"] };

  test("no violation in a valid tree", () => {
    const good = treeOf({
      "index.ts": `export { a } from "./high/a.ts";`,
      "high/a.ts": `import { b } from "../low/b.ts"; import type { D } from "./d.ts"; export const a = b;`,
      "high/d.ts": `import { a } from "./a.ts"; export type D = typeof a;`,
      "low/b.ts": "export const b = 1;",
      "low/b.test.ts": `import "../high/a.ts";`,
    });
    expect(wrongDirections(good, layers)).toEqual([]);
    expect(cycles(good)).toEqual([]);
    expect([...reachableFrom(join(good, "index.ts")).keys()].length).toBe(3);
  });

  test.each([
    [`import { a } from "../high/a.ts";`],
    [`import { type A } from "../high/a.ts";`],
    [`import "../high/a.ts";`],
    [`export { a } from "../high/a.ts";`],
    [`export * from "../high/a.ts";`],
    [`await import("../high/a.ts");`],
  ])("an import that points up: %s", (text) => {
    const bad = treeOf({ "low/b.ts": text, "high/a.ts": "export const a = 1; export type A = 1;" });
    const line = "low/b.ts imports high/a.ts, but 'low' may only import itself.";
    expect(wrongDirections(bad, layers)).toEqual([line]);
    // A vocabulary file may import types from above, but no code.
    expect(wrongDirections(bad, { ...layers, vocabulary: ["low/b.ts"] })).toContain(line);
  });

  test.each([
    [`import type { A } from "../high/a.ts";`],
    [`export type { A } from "../high/a.ts";`],
    [`export type * from "../high/a.ts";`],
    [`export type B = import("../high/a.ts").A;`],
  ])("a type from above, unless the file is a vocabulary: %s", (text) => {
    const bad = treeOf({ "low/b.ts": text, "high/a.ts": "export type A = 1;" });
    expect(wrongDirections(bad, layers)).toEqual([
      "low/b.ts imports types of high/a.ts, but 'low' may only import itself.",
    ]);
    expect(wrongDirections(bad, { ...layers, vocabulary: ["low/b.ts"] })).toEqual([]);
  });

  test("a vocabulary file that no longer needs its exception", () => {
    const bad = treeOf({ "low/b.ts": "export type B = 1;" });
    expect(wrongDirections(bad, { ...layers, vocabulary: ["low/b.ts"] })).toEqual([
      "low/b.ts no longer imports types from above: remove it from the vocabulary.",
    ]);
  });

  test("an import of the entry from inside", () => {
    const bad = treeOf({
      "index.ts": "export const a = 1;",
      "high/b.ts": `import { a } from "../index.ts";`,
    });
    expect(wrongDirections(bad, layers)).toEqual([
      "high/b.ts imports index.ts, but 'high' may only import itself, low.",
    ]);
  });

  test("a folder or a file without a layer", () => {
    const bad = treeOf({ "misc/a.ts": "", "util.ts": "" });
    expect(wrongDirections(bad, layers)).toEqual([
      "The folder of misc/a.ts is not in the table of layers: add 'misc' and what it may import.",
      "util.ts is not in a folder: only index.ts may be at the top.",
    ]);
  });

  test("a cycle at run time", () => {
    const bad = treeOf({
      "low/a.ts": `import "./b.ts";`,
      "low/b.ts": `import "./c.ts";`,
      "low/c.ts": `import "./b.ts";`,
    });
    expect(cycles(bad)).toEqual(["low/b.ts → low/c.ts → low/b.ts"]);
  });

  test.each([
    [`import { readFileSync } from "fs";`, "node:fs"],
    [`import "node:sqlite";`, "node:sqlite"],
    [`export * from "fs/promises";`, "node:fs/promises"],
    [`await import("node:http");`, "node:http"],
    [`require("path");`, "node:path"],
  ])("a Node built-in in a dependency: %s", (text, builtin) => {
    const bad = treeOf({
      "index.ts": `import "dependency";`,
      "node_modules/dependency/package.json": `{ "name": "dependency", "exports": "./main.js" }`,
      "node_modules/dependency/main.js": `import "./deep.js";`,
      "node_modules/dependency/deep.js": text,
    });
    const chain = reachableFrom(join(bad, "index.ts")).get(builtin);
    expect(chain?.map((file) => file.slice(file.lastIndexOf("/") + 1)).slice(0, -1)).toEqual([
      "index.ts",
      "main.js",
      "deep.js",
    ]);
  });

  test("an import that cannot be followed", () => {
    const bad = treeOf({ "low/a.ts": "await import(globalThis.name);" });
    expect(() => wrongDirections(bad, layers)).toThrow("imports a computed name");
  });

  test("imported packages", () => {
    const some = treeOf({
      "a.ts": `import "@scope/one/sub"; import "two/sub"; import type { T } from "two"; import "./b.ts"; import "node:fs";`,
      "b.ts": "",
    });
    expect(packagesImported(some)).toEqual(["@scope/one", "two"]);
  });

  test.each([
    [`export * from "./a.ts";`],
    [`export * as a from "./a.ts";`],
    [`export type * from "./a.ts";`],
  ])("exports that are not named: %s", (text) => {
    const bad = treeOf({ "index.ts": text });
    expect(exportsEverythingOf(join(bad, "index.ts"))).toBe(true);
  });
});
