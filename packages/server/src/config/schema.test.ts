import fc from "fast-check";
import { tool } from "rondo";
import { scriptedModel } from "rondo/testing";
import { describe, expect, test } from "vitest";
import { memoryStore } from "../store/testkit/memory.ts";
import { resolveConfig } from "./check-config.ts";
import { valueAt } from "./config-path.ts";
import { defineConfig } from "./schema.ts";
import { settings, shortcuts } from "./settings.ts";
import { problemsOfInput } from "./testkit/problems.ts";

const url = "http://localhost:11434/v1";

describe("every setting", () => {
  test.each(settings)("$key says what it means and what it allows", ({ description, expected }) => {
    expect(description).toMatch(/^[A-Z].*\.$/);
    expect(expected).not.toBe("");
  });

  test.each(settings.filter(({ path, expected }) => path && !expected.startsWith("a group")))(
    "$key has the default that is documented",
    ({ path = [], default: documented }) => {
      const isBelowOptional = path[0] === "auth";
      expect(valueAt(resolveConfig({}), path)).toEqual(isBelowOptional ? undefined : documented);
    },
  );

  test("below an endpoint, a model or jwt has the default that is documented", () => {
    const config = resolveConfig({
      endpoints: [{ url }],
      models: { a: { url } },
      mcp: { servers: { a: { url } } },
      auth: { jwt: { issuer: "https://id.example.org" } },
    });
    const below = settings.filter(
      ({ key }) =>
        /^(endpoints\[\]|models\.NAME|mcp\.servers\.NAME|auth\.jwt)\./.test(key) &&
        !/\.(url|issuer)$/.test(key),
    );
    const found = below.map(({ key }) => {
      const path = key.split(/\[\]\.|\./).map((part) => (part === "NAME" ? "a" : part));
      return [key, valueAt(config, path[0] === "endpoints" ? ["endpoints", 0, ...path.slice(1)] : path)];
    });
    expect(found).toEqual(below.map(({ key, default: documented }) => [key, documented]));
  });

  test("has a variable of its own", () => {
    const names = [...settings, ...shortcuts].flatMap(({ env }) => env ?? []);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(["RONDO_PORT", "RONDO_RUNS_LEASE_MS", "RONDO_MODEL_URL"]));
  });
});

test("defaults of one config are not shared with another", () => {
  resolveConfig({}).cors.origins.push("https://a.example");
  resolveConfig({}).endpoints.push({ url, idleTimeoutMs: 1 });
  expect(resolveConfig({})).toMatchObject({ cors: { origins: [] }, endpoints: [] });
});

test("takes a store of the user's own, or none", () => {
  const store = memoryStore();
  expect(resolveConfig(defineConfig({ store })).store).toBe(store);
  expect(resolveConfig({ store: "none" }).store).toBe("none");
});

test("takes tools, executors and providers made by code", () => {
  const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
  const executor = {
    kind: "echo",
    canExecute: () => true,
    execute: async ({ id }: { id: string }) => ({ callId: id, output: "" }),
  };
  const model = scriptedModel([]);
  const input = defineConfig({ tools: [add], executors: [executor], models: { scripted: model } });
  const config = resolveConfig(input);
  expect(config.tools).toEqual([add]);
  expect(config.executors[0]).toBe(executor);
  expect(config.models["scripted"]).toBe(model);
});

describe("is refused:", () => {
  test.each([
    [{ port: 65_536 }, "port (the config): expected a whole number from 0 to 65535, got 65536."],
    [{ port: "4500" }, 'port (the config): expected a whole number from 0 to 65535, got "4500".'],
    [
      { host: "[::1]" },
      'host (the config): expected an address or a host name, without a port, got "[::1]".',
    ],
    [
      { host: "localhost:80" },
      'host (the config): expected an address or a host name, without a port, got "localhost:80".',
    ],
    [
      { store: "redis:" },
      'store (the config): expected memory, none, sqlite:PATH, postgres://USER@HOST/DATABASE or a store of your own, got "redis:".',
    ],
    [
      { store: { get() {} } },
      /^store .*a store of your own with the methods of Store \(missing: list, .*, close\), got a group of keys\.$/,
    ],
    [
      { runs: 4 },
      "runs (the config): expected a group with the keys enabled, concurrency, leaseMs, maxAttempts, modelWaitMs, got 4.",
    ],
    [{ tools: [{}] }, "tools[0] (the config): expected a tool made with tool(), got a group of keys."],
    [{ executors: [() => 1] }, "executors[0] (the config): expected an executor, got a function."],
    [{ mcp: { servers: { a: {} } } }, /^mcp\.servers\.a\.command .*a program to start, or a url instead/],
    [
      { mcp: { servers: { a: { command: "a", url } } } },
      /^mcp\.servers\.a\.url .*only one of command and url/,
    ],
    [{ mcp: { servers: { a: { command: "a", headers: {} } } } }, /headers .*nothing, as it goes with url/],
    [{ mcp: { servers: { a: { url, env: { KEY: "x" } } } } }, /env .*nothing, as it goes with command/],
    [{ mcp: { servers: { local: { url } } } }, /^mcp\.servers\.local .*a label that is not empty/],
    [{ mcp: { servers: { a: { url, requireApproval: "some" } } } }, /requireApproval .*one of always, never/],
    [{ mcp: { allowPrivate: ["http://a/"] } }, /^mcp\.allowPrivate\[0\] .*expected a host of a URL/],
    [{ cors: { origins: ["example.org"] } }, /^cors\.origins\[0\] .*expected an origin such as/],
    [
      { auth: {} },
      "auth (the config): expected at least one key in auth.keys, or auth.jwt, got a group of keys.",
    ],
    [{ endpoints: [{}] }, /^endpoints\[0\]\.url \(the config\): is missing; expected an http or https URL/],
    [
      { endpoints: [{ url, profile: { outputMode: "guess" } }] },
      'endpoints[0].profile.outputMode (the config): expected one of native, tool, prompt, got "guess".',
    ],
    [{ endpoints: [{ url, maxCallsPerAnswer: 0 }] }, /^endpoints\[0\]\.maxCallsPerAnswer .*a whole number/],
    [{ endpoints: [{ url, maxAnswerBytes: 0.5 }] }, /^endpoints\[0\]\.maxAnswerBytes .*a whole number/],
    [{ endpoints: [{ url, profile: { repairArguments: 0 } }] }, /profile\.repairArguments .*true or false/],
    [
      { models: { a: { url, headers: { "a b.c": "x" } } } },
      /^models\.a\.headers\.a b\.c .*an HTTP header, got \(hidden\)/,
    ],
    [{ models: { a: 5 } }, /^models\.a \(the config\): expected a group with the keys url, .*, got 5\.$/],
    [
      { models: { a: { url, modle: "x" } } },
      'models.a.modle (the config): is not a known key. Did you mean "model"?',
    ],
    [{ maxRepeats: 0 }, "maxRepeats (the config): expected a whole number from 1, got 0."],
    [{ max_agentic_turns: 3 }, /Did you mean "maxAgenticTurns"\?$/],
    [{ xyzzy: 3 }, /^xyzzy \(the config\): is not a known key\. Known are host, port, /],
    [
      { models: { a: { url } }, defaultModel: "b" },
      /^defaultModel .*expected one of the models a, got "b"\.$/,
    ],
    [{ auth: { jwt: { issuer: "me" } } }, /^auth\.jwt\.issuer .*expected an http or https URL/],
    [
      { auth: { jwt: { issuer: "me", secret: "short" } } },
      /^auth\.jwt\.secret .*32 characters, got \(hidden\)\.$/,
    ],
    [{ auth: { jwt: { issuer: "me", publicKey: "-----BEGIN X" } } }, /^auth\.jwt\.publicKey .*in PEM/],
    [
      { auth: { jwt: { issuer: "https://a.example", algorithms: ["HS256"] } } },
      /^auth\.jwt\.algorithms .*HS… only with a secret/,
    ],
    [
      { auth: { jwt: { issuer: "https://a.example", algorithms: ["none"] } } },
      /^auth\.jwt\.algorithms\[0\] .*got "none"/,
    ],
    [
      { auth: { jwt: { issuer: "a", secret: "s".repeat(32), jwksUrl: "https://a.example/keys" } } },
      /^auth\.jwt .*only one of jwksUrl, secret and publicKey/,
    ],
  ])("%j", (input, expected) => {
    const pattern = typeof expected === "string" ? new RegExp(`^${RegExp.escape(expected)}$`) : expected;
    expect(problemsOfInput(input)).toEqual([expect.stringMatching(pattern)]);
  });
});

test("never shows a secret, not even a wrong one", () => {
  const secret = "hunter2 hunter2";
  const lines = problemsOfInput({
    endpoints: [
      { url: `ftp://me:${secret}@host`, apiKey: secret },
      { url, apiKey: `${secret}ü` },
    ],
    models: { a: { url, headers: { "x-key": `${secret}\n` } } },
    auth: { keys: [{ owner: "a", hash: secret }], jwt: { issuer: "a", secret: "hunter2" } },
  });
  expect(lines).toHaveLength(5);
  expect(lines.join()).not.toContain("hunter2");
});

test("any input gives a config or worded problems", () => {
  const known = settings.flatMap(({ path }) => (path ? [path] : []));
  const input = fc.array(fc.tuple(fc.constantFrom(...known), fc.anything())).map((entries) => {
    const values: Record<string, unknown> = {};
    for (const [[first = "", ...rest], value] of entries)
      values[first] = rest.reduceRight<unknown>((child, part) => ({ [part]: child }), value);
    return values;
  });
  fc.assert(
    fc.property(fc.oneof(input, fc.anything()), (values) => {
      for (const line of problemsOfInput(values)) {
        expect(line).toMatch(/[.?]$/);
        expect(line).not.toContain("Invalid input");
        expect(line).not.toContain("undefined");
      }
    }),
    { numRuns: 300 },
  );
});
