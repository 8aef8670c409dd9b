import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";

import { definitionOf, inner, schemaAt, valueAt } from "./config-path.ts";
import { loadConfig } from "./load.ts";
import { camelCase, type Setting, settings } from "./settings.ts";
import { folderWith } from "./testkit/folder.ts";
import { problemsOf, problemsOfYaml } from "./testkit/problems.ts";

const url = "http://localhost:11434/v1";

/** Of settings that take only certain values. */
const certain: Readonly<Record<string, [string, string, string]>> = {
  host: ["127.0.0.2", "::1", "localhost"],
  store: ["memory", "sqlite:a.db", "sqlite:b.db"],
  "cors.origins": ["https://a.example", "https://b.example,https://c.example", "*"],
  "postgres.schema": ["in_file", "in_env", "in_flag"],
  "sandbox.folder": ["/of/the/file", "/of/the/environment", "/of/a/flag"],
  "sandbox.idleMs": ["60001", "60002", "60003"],
  "sandbox.limits.memoryBytes": ["20000001", "20000002", "20000003"],
  "urls.schemes": ["https", "https,file", "data"],
};

/** Three values that a setting may have, as text, for the three sources. */
function valuesFor({ key, path = [] }: Setting): [string, string, string] {
  const schema = schemaAt(path);
  const definition = schema && definitionOf(inner(schema));
  if (certain[key] !== undefined) return certain[key];
  if (key.endsWith(".allowPrivate")) return ["mcp.lan", "localhost:3001,[::1]", "*"];
  if (definition?.type === "number") return ["2001", "3001", "4001"];
  if (definition?.type === "boolean") return ["true", "false", "1"];
  if (definition?.type === "enum") {
    const words = Object.values(definition.entries).map(String);
    return [words[0] ?? "", words[1] ?? "", words.at(-1) ?? ""];
  }
  return ["a text of the file", "a text of the environment", "a text of a flag"];
}

function meaning(text: string, { path = [] }: Setting): unknown {
  const schema = schemaAt(path);
  const type = schema && definitionOf(inner(schema)).type;
  if (type === "number") return Number(text);
  if (type === "boolean") return text !== "false";
  return type === "array" ? text.split(",") : text;
}

const inText = settings.filter(({ env, key }) => env !== undefined && !key.startsWith("auth."));

test("flags override the environment and the environment the file, for each setting by itself", async () => {
  const sources = fc.record({ file: fc.boolean(), env: fc.boolean(), flag: fc.boolean() });
  const choice = fc.record(Object.fromEntries(inText.map(({ key }) => [key, sources])));
  using folder = folderWith();
  await fc.assert(
    fc.asyncProperty(choice, async (chosen) => {
      const file: Record<string, unknown> = {};
      const env: Record<string, string> = {};
      const flags: Record<string, string> = {};
      const expected = inText.map((setting) => {
        const { key, path = [], flag } = setting;
        const [inFile, inEnv, inFlag] = valuesFor(setting);
        const is = chosen[key] ?? { file: false, env: false, flag: false };
        let value = setting.default;
        if (is.file) {
          value = meaning(inFile, setting);
          const groups = path.slice(0, -1).reduce<Record<string, unknown>>((outer, name) => {
            outer[name] ??= {};
            return outer[name] as Record<string, unknown>;
          }, file);
          groups[path.at(-1) ?? ""] = value;
        }
        if (is.env) {
          env[setting.env ?? ""] = inEnv;
          value = meaning(inEnv, setting);
        }
        if (is.flag && flag !== undefined) {
          flags[camelCase(flag)] = inFlag;
          value = meaning(inFlag, setting);
        }
        return [key, value];
      });
      folder.write("rondo.yaml", stringify(file));
      const config = await loadConfig({ cwd: folder.path, env, flags });
      expect(inText.map(({ key, path = [] }) => [key, valueAt(config, path)])).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

describe("a problem names where the value was set:", () => {
  test("the line of the file", async () => {
    const text = `# a comment
port: 4500
runs:
  concurrency: 4
  leaseMs: soon
endpoints:
  - url: ${url}
  - apiKey: x
    ulr: ${url}
`;
    expect(await problemsOfYaml(text)).toEqual([
      expect.stringMatching(/^endpoints\[1\]\.url \(rondo\.yaml line 8\): is missing; expected an http/),
      'endpoints[1].ulr (rondo.yaml line 9): is not a known key. Did you mean "url"?',
      'runs.leaseMs (rondo.yaml line 5): expected a whole number of milliseconds from 1000, got "soon".',
    ]);
  });

  test("the line of the file, behind an alias", async () => {
    const text = `models:\n  a: &a\n    url: 5\n  b: *a\n`;
    expect(await problemsOfYaml(text)).toEqual([
      expect.stringContaining("models.a.url (rondo.yaml line 3)"),
      expect.stringContaining("models.b.url (rondo.yaml line 3)"),
    ]);
  });

  test("the variable and the flag", async () => {
    const env = { RONDO_PORT: "http", RONDO_COMPAT_STRICT: "maybe", RONDO_RUNS_CONCURRENCY: "0" };
    expect(await problemsOfYaml("port: 1", { env, flags: { logFormat: "xml" } })).toEqual([
      'port (the environment variable RONDO_PORT): expected a whole number from 0 to 65535, got "http".',
      "runs.concurrency (the environment variable RONDO_RUNS_CONCURRENCY): expected a whole number from 1, got 0.",
      'compat.strict (the environment variable RONDO_COMPAT_STRICT): expected true or false, got "maybe".',
      'log.format (the flag --log-format): expected one of json, text, got "xml".',
    ]);
  });

  test("not if a stronger source overrides it", async () => {
    const text = `port: \${NOBODY}\nstore: 5\n`;
    expect(await problemsOfYaml(text, { env: { RONDO_STORE: "memory" }, flags: { port: "1" } })).toEqual([]);
  });

  test("the trap that Kubernetes sets for a Service named rondo", async () => {
    const [line] = await problemsOf({ cwd: "/", env: { RONDO_PORT: "tcp://10.0.0.1:4500" } });
    expect(line).toContain("enableServiceLinks");
  });
});

describe("YAML that cannot be read", () => {
  test("names the line", async () => {
    expect(await problemsOfYaml("port: 1\nhost: [a\nstore: memory\n")).toEqual(
      expect.arrayContaining([expect.stringMatching(/^ \(rondo\.yaml line [34]\): is not valid YAML: /)]),
    );
  });

  test("is called JSON in a .json file", async () => {
    using folder = folderWith({ "my.json": '{\n"port": 1,' });
    expect(await problemsOf({ cwd: folder.path, file: "my.json" })).toEqual([
      expect.stringMatching(/^ \(my\.json line 2\): is not valid JSON: /),
    ]);
  });

  test("names the line of a duplicate key", async () => {
    expect(await problemsOfYaml("port: 1\nhost: localhost\nport: 2\n")).toEqual([
      expect.stringMatching(/^ \(rondo\.yaml line 3\): is not valid YAML: Map keys must be unique/),
    ]);
  });

  test("may be an unknown alias, or aliases that expand without bound", async () => {
    expect(await problemsOfYaml("port: *p\n")).toEqual([expect.stringContaining("is not valid YAML")]);
    const bomb = [
      "a0: &a0 [x]",
      ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`),
    ];
    expect(await problemsOfYaml(bomb.join("\n"))).toEqual([expect.stringContaining("is not valid YAML")]);
  });

  test("may be a list instead of keys", async () => {
    expect(await problemsOfYaml("- a\n")).toEqual([
      expect.stringMatching(/expected a group with the keys host, .*, got a list\.$/),
    ]);
  });

  test("may be empty, and then all defaults apply", async () => {
    expect(await problemsOfYaml("# nothing yet\n")).toEqual([]);
  });
});

describe("a variable in YAML", () => {
  test("is replaced at any depth, within text, and as a number, a list or a boolean", async () => {
    using folder = folderWith({
      "rondo.yaml": `
port: \${PORT}
cors: { origins: "\${ORIGINS}" }
compat: { strict: "\${STRICT}" }
endpoints: [{ url: "http://\${HOST}/v1", apiKey: "\${KEY}", headers: { x: "a $\${b} \${HOST}" } }]
`,
    });
    const env = { PORT: "81", ORIGINS: "https://a.example, *", STRICT: "1", HOST: "gpu", KEY: "123" };
    expect(await loadConfig({ cwd: folder.path, env })).toMatchObject({
      port: 81,
      cors: { origins: ["https://a.example", "*"] },
      compat: { strict: true },
      endpoints: [{ url: "http://gpu/v1", apiKey: "123", headers: { x: `a \${b} gpu` } }],
    });
  });

  test("must be set, and must be a name", async () => {
    const text = `defaultModel: \${NOBODY}\nstore: "sqlite:\${A:-b}"\n`;
    expect(await problemsOfYaml(text)).toEqual([
      "defaultModel (rondo.yaml line 1): the environment variable NOBODY, which it mentions, is not set.",
      expect.stringMatching(
        /^store \(rondo\.yaml line 2\): expected the name of an environment variable, as in \$\{NAME\}, got "\$\{A:-b\}"/,
      ),
    ]);
  });

  test("is not replaced within the value of a variable", async () => {
    using folder = folderWith({ "rondo.yaml": `defaultModel: \${A}` });
    expect(await loadConfig({ cwd: folder.path, env: { A: `\${B}` } })).toMatchObject({
      defaultModel: `\${B}`,
    });
  });
});

describe("the environment", () => {
  test("counts an empty variable as not set", async () => {
    expect(await problemsOfYaml("port: 1", { env: { RONDO_PORT: "", RONDO_STORE: " " } })).toEqual([]);
  });

  test("may hold unrelated RONDO_ variables", async () => {
    const env = { RONDO_MODEL: "x", RONDO_BASE_URL: url, RONDO_SERVICE_HOST: "10.0.0.1" };
    expect(await problemsOfYaml("", { env })).toEqual([]);
  });

  test("can set the API keys", async () => {
    const hash = `sha256:${"0".repeat(64)}`;
    const env = { RONDO_AUTH_KEYS: `alice=${hash}, bob=${hash}` };
    const { auth } = await loadConfig({ cwd: "/", env });
    expect(auth).toEqual({
      keys: [
        { owner: "alice", hash },
        { owner: "bob", hash },
      ],
    });
    expect(await problemsOf({ cwd: "/", env: { RONDO_AUTH_KEYS: "alice" } })).toEqual([
      expect.stringMatching(
        /^auth\.keys\[0\]\.hash \(the environment variable RONDO_AUTH_KEYS\): .*got \(hidden\)/,
      ),
    ]);
  });
});

describe("--model-url and RONDO_MODEL_URL", () => {
  test("give one endpoint without any file, with the key of the environment", async () => {
    const env = { RONDO_MODEL_URL: url, RONDO_MODEL_API_KEY: "abc" };
    expect(await loadConfig({ cwd: "/", env })).toMatchObject({ endpoints: [{ url, apiKey: "abc" }] });
    const { endpoints } = await loadConfig({ cwd: "/", env, flags: { modelUrl: "http://other/v1" } });
    expect(endpoints.map((endpoint) => endpoint.url)).toEqual(["http://other/v1"]);
  });

  test("take the place of the file's endpoints, whose keys are not sent elsewhere", async () => {
    using folder = folderWith({
      "rondo.yaml": `endpoints: [{ url: "http://a/v1", apiKey: secret }, { url: "http://b/v1" }]`,
    });
    const { endpoints } = await loadConfig({ cwd: folder.path, env: {}, flags: { modelUrl: url } });
    expect(endpoints).toEqual([{ url }]);
  });

  test("are named if they are invalid", async () => {
    const env = { RONDO_MODEL_URL: "localhost", RONDO_MODEL_API_KEY: "a b" };
    expect(await problemsOf({ cwd: "/", env })).toEqual([
      'endpoints[0].url (the environment variable RONDO_MODEL_URL): expected an http or https URL, such as http://localhost:11434/v1, got "localhost".',
    ]);
    expect(await problemsOf({ cwd: "/", env, flags: { modelUrl: url } })).toEqual([
      expect.stringMatching(
        /^endpoints\[0\]\.apiKey \(the environment variable RONDO_MODEL_API_KEY\): .*got \(hidden\)/,
      ),
    ]);
  });
});

describe("secrets in files", () => {
  test("are read relative to the config file, or to the working directory for variables", async () => {
    using folder = folderWith({
      "etc/rondo.yaml": `
endpoints: [{ url: "${url}", apiKeyFile: ../run/key }]
models: { a: { url: "${url}", apiKeyFile: ../run/key } }
auth: { jwt: { issuer: me } }
`,
      "run/key": "abc\n",
      "secret.txt": `${"s".repeat(32)}\n`,
    });
    const env = { RONDO_AUTH_JWT_SECRET_FILE: "secret.txt" };
    expect(await loadConfig({ cwd: folder.path, file: "etc/rondo.yaml", env })).toMatchObject({
      endpoints: [{ apiKey: "abc" }],
      models: { a: { apiKey: "abc" } },
      auth: { jwt: { secret: "s".repeat(32) } },
    });
  });

  test("must exist, must not be empty, must hold a valid value, and must not be given twice", async () => {
    using folder = folderWith({
      "rondo.yaml": `endpoints:
  - { url: "${url}", apiKeyFile: none }
  - { url: "${url}", apiKeyFile: empty }
  - { url: "${url}", apiKeyFile: wrong }
  - { url: "${url}", apiKeyFile: wrong, apiKey: x }
  - { url: "${url}", apiKeyFile: . }
`,
      empty: "\n",
      wrong: "a b",
    });
    expect(await problemsOf({ cwd: folder.path })).toEqual([
      "endpoints[0].apiKeyFile (rondo.yaml line 2): the file none cannot be read: there is no such file.",
      "endpoints[1].apiKeyFile (rondo.yaml line 3): the file empty is empty.",
      "endpoints[3].apiKeyFile (rondo.yaml line 5): expected only one of apiKey and apiKeyFile.",
      "endpoints[4].apiKeyFile (rondo.yaml line 6): the file . cannot be read: it is a folder.",
      expect.stringMatching(/^endpoints\[2\]\.apiKey \(rondo\.yaml line 4\): expected .*, got \(hidden\)\.$/),
    ]);
  });
});

describe("the config file", () => {
  test("may be missing, but not when it was named", async () => {
    using folder = folderWith();
    expect(await problemsOf({ cwd: folder.path })).toEqual([]);
    expect(await problemsOf({ cwd: folder.path, file: "my.yaml" })).toEqual([
      ` (${folder.path}/my.yaml): cannot be read: there is no such file.`,
    ]);
  });

  test("must be the only one, unless it was named", async () => {
    using folder = folderWith({
      "rondo.yaml": "port: 1",
      "rondo.yml": "port: 2",
      "other.json": `{ "port": 3 }`,
    });
    expect(await problemsOf({ cwd: folder.path })).toEqual([
      expect.stringContaining("there are rondo.yaml and rondo.yml, and only one can count"),
    ]);
    expect(await loadConfig({ cwd: folder.path, file: "rondo.yml", env: {} })).toMatchObject({ port: 2 });
    expect(await loadConfig({ cwd: folder.path, file: "other.json", env: {} })).toMatchObject({ port: 3 });
  });

  test("must have a known extension", async () => {
    using folder = folderWith({ "rondo.toml": "port = 1" });
    expect(await problemsOf({ cwd: folder.path, file: "rondo.toml" })).toEqual([
      expect.stringContaining("expected a file that ends in .ts, .mts, .js, .mjs, .yaml, .yml, .json."),
    ]);
  });
});
