// Every setting of the server, once: its key, what it allows, its default, its flag and its meaning. The file,
// the environment, the flags and docs/server-config.md are all derived from it.

import { isIP } from "node:net";
import type { AnyTool } from "rondo";
import { z } from "zod";
import type { ToolExecutor } from "../executor/executor.ts";
import { defaultUrlRules } from "../protocol/input-urls.ts";
import { traceLevels } from "../protocol/trace-object.ts";
import type { Store } from "../store/store.ts";
import { isPostgresUrl, isValidPostgresUrl } from "../store/store-label.ts";
import { authSchema } from "./auth-schema.ts";
import {
  amountAbove0,
  autoOrFlag,
  byName,
  choice,
  flagValue,
  group,
  listOf,
  made,
  milliseconds,
  privateHosts,
  section,
  text,
  wholeNumber,
} from "./fields.ts";
import { mcpSchema } from "./mcp-schema.ts";
import { endpointSchema, modelSchema } from "./model-schema.ts";
import { sandboxSchema } from "./sandbox-schema.ts";

const storeExpected = "memory, none, sqlite:PATH, postgres://USER@HOST/DATABASE or a store of your own";

const storeSchema = z.union([
  made<Store>("a store", (value) => missingMethods(value, storeMethods).length === 0),
  text(
    storeExpected,
    (value) => (isPostgresUrl(value) ? isValidPostgresUrl(value) : /^(memory|none|sqlite:.+)$/.test(value)),
    (value) => {
      if (isPostgresUrl(value))
        return "a URL such as postgres://USER:PASSWORD@HOST:5432/DATABASE, in which special characters of the password are percent-encoded (@ is %40, / is %2F, % is %25)";
      if (typeof value !== "object") return storeExpected;
      return `${storeExpected} with the methods of Store (missing: ${missingMethods(value, storeMethods).join(", ")})`;
    },
  ),
]);

const postgresSchema = section("The PostgreSQL store (docs/scaling.md).", {
  schema: text("a name of at most 40 letters, digits and _", (value) => /^[a-z_][a-z0-9_]{0,39}$/.test(value))
    .default("rondo")
    .describe("The schema of the tables. The queue has its own beside it, with `_queue` after the name."),
  connections: wholeNumber(2)
    .default(10)
    .describe(
      "How many connections this process opens to PostgreSQL at most, besides one for news and locks.",
    ),
  migrate: flagValue().default(true).meta({
    description:
      "Whether the start creates and changes the tables. If not, `rondo migrate` has to be run before, and a start without it is refused.",
    flag: "--no-migrate",
  }),
});

const count = (value: number, min = 1) => wholeNumber(min).default(value);
const duration = (ms: number, min = 1) => milliseconds(min).default(ms);

const runsSchema = section("Background runs.", {
  enabled: flagValue().default(true).meta({
    description:
      "Whether this process works on background runs. If not, others have to: `rondo worker`, or a server with the same store. Only with a store that several processes share.",
    flag: "--no-worker",
    command: "serve",
  }),
  concurrency: count(8).meta({
    description: "How many background runs work at once, in this process.",
    flag: "--concurrency <number>",
  }),
  leaseMs: duration(30_000, 1000).describe(
    "How long a worker may miss heartbeats before its run is taken over.",
  ),
  maxAttempts: count(5).describe(
    "How many times a run is retried after crashes it may have caused before it fails.",
  ),
  modelWaitMs: duration(3_600_000, 0).describe(
    "How long a background run waits for a model server that is away, also in the middle of an answer, before it fails. 0: not at all.",
  ),
});

const limitsSchema = section("Limits for clients.", {
  bodyBytes: count(10_000_000).describe("The largest request body."),
  items: count(1000).describe("How many input items a request may have."),
  tools: count(128).describe("How many tools a request may have."),
  headersMs: duration(30_000, 100).describe("How long the headers of a request may take to arrive."),
  requestMs: duration(120_000, 100).describe(
    "How long a request, or a WebSocket message, may take to arrive.",
  ),
  connections: count(10_000).describe("How many connections may be open. Further ones are closed at once."),
  requestsPerOwner: count(2048).describe("How many requests of an owner may be in flight; others get 429."),
  bodyBytesPerOwner: count(200_000_000).describe("Total size of these requests' bodies and replies."),
  waitingRunsPerOwner: count(10_000).describe("How many runs of an owner may be queued; others get 429."),
  toolBytes: count(2_000_000).describe("Total size of a request's tools, in bytes of JSON."),
  fileBytes: count(100_000_000).describe("The largest file that may be uploaded."),
  filesPerOwner: count(10_000).describe("How many files an owner may keep."),
  fileBytesPerOwner: count(2_000_000_000).describe("Total size of an owner's files."),
  schemaBytes: count(262_144).describe("The largest JSON Schema of a tool or of `text.format`."),
});

const webSocketSchema = section("WebSocket connections.", {
  lifeMs: duration(3_600_000, 1000).describe("How long a connection may live before it is closed."),
  keptResponses: count(32, 0).describe(
    "How many responses with `store: false` a connection keeps, so that later ones can continue them.",
  ),
  keptBytes: count(20_000_000, 0).describe("Total size of these responses and their history."),
  keptBytesPerOwner: count(200_000_000, 0).describe("The same for all connections of an owner together."),
  connections: count(2000).describe("How many connections may be open."),
  connectionsPerOwner: count(100).describe("How many connections of an owner may be open; others get 429."),
  messagesPerMinute: count(6000).describe("How many messages a client may send per connection and minute."),
  pingsPerMinute: count(120).describe("The same for pings and pongs."),
});

export const configSchema = group({
  host: text("an address or a host name, without a port", isHost).default("127.0.0.1").meta({
    description: "The address to listen on. All but loopback (127.0.0.1, ::1, localhost) require `auth`.",
    flag: "--host <address>",
  }),
  port: wholeNumber(0, 65_535).default(4500).meta({
    description: "The port to listen on; 0 takes any free one.",
    flag: "--port <number>",
    command: "serve",
  }),
  healthPort: wholeNumber(0, 65_535).optional().meta({
    description:
      "The port on which `rondo worker` serves `/healthz`, `/readyz` and `/metrics`, and nothing else. None if not set.",
    flag: "--health-port <number>",
    command: "worker",
  }),
  store: storeSchema.default("sqlite:./rondo.db").meta({
    description:
      "Where responses are kept: `sqlite:PATH`, relative to the working directory; `postgres://USER:PASSWORD@HOST:5432/DATABASE`, for several servers (docs/scaling.md); `memory`, until the server stops; `none`, not at all, so that only requests with `store: false` are served; or a `Store` of your own, only in code. The server closes it.",
    flag: "--store <store>",
  }),
  postgres: postgresSchema,
  keepDays: amountAbove0("days").optional().describe("How long responses are kept. For ever if not set."),
  endpoints: listOf(endpointSchema, "a list of endpoints")
    .default([])
    .describe("Model servers. All models of each are served, under their own names."),
  models: byName(modelSchema, "names with a group for each")
    .default({})
    .describe("Models by the names that clients use. They take precedence over those of the endpoints."),
  defaultModel: text("the name of a model").optional().meta({
    description: "The model for requests that name none. Without it, an only model is the default.",
    flag: "--default-model <name>",
  }),
  tools: listOf(made<AnyTool>("a tool made with tool()", isTool), "a list of tools")
    .default([])
    .describe("Tools that requests may use and that run in this process. Only in code."),
  offerTools: choice(["always", "named"])
    .default("always")
    .describe(
      'Whether `tools` are offered to every request, or only to those that name them with `{ "type": "mcp", "server_label": "local" }`.',
    ),
  executors: listOf(made<ToolExecutor>("an executor", isExecutor), "a list of executors")
    .default([])
    .describe("Executors of other kinds of tools. The first that can execute a tool does. Only in code."),
  mcp: mcpSchema.prefault({}).describe("Tools of MCP servers (docs/mcp.md)."),
  sandbox: sandboxSchema,
  maxAgenticTurns: count(10).describe("How many rounds (model requests) a response may take."),
  maxRepeats: count(3).describe(
    "How many times in a row the server runs the same call with the same result, and how many answers in a row may contain no call that can run (docs/server.md). A large number lifts the limit.",
  ),
  onLimit: choice(["incomplete", "final_answer"])
    .optional()
    .describe(
      "What happens at these limits: stop, or ask once more without tools. If not set, stop if the server ran tools, and ask if only the client could.",
    ),
  maxResultTokens: wholeNumber(100)
    .optional()
    .describe(
      "How many tokens of one tool result the model reads at once. Of a longer one it reads the beginning and the end, and reads on with a tool; items and the store keep all of it (docs/tools-with-models.md). If not set, a quarter of the model's context window, or 8,000.",
    ),
  maxOfferedTools: wholeNumber(1)
    .optional()
    .describe(
      "How many tools a model is offered. With more, or if they take more than a quarter of its context window, it has to find them with `tool_search`. If not set, 64.",
    ),
  onPromptCut: choice(["warn", "error"])
    .default("warn")
    .describe(
      "What happens where a model server certainly read only a part of the prompt and answered all the same: a warning in the log, the header `rondo-prompt-cut` and `usage.input_tokens_details.cut_tokens`, or the response fails with the code `prompt_cut` (docs/context-budget.md).",
    ),
  traces: choice(traceLevels).default("timings").meta({
    description:
      "What is recorded of each stored run (docs/traces.md): nothing (`off`); what happened when, with names, sizes and errors (`timings`); or also requests to models, the chunks of their answers, and what went into tools and came out (`full`, for a machine of your own: it takes up to 8 MB a run).",
    flag: "--traces <level>",
  }),
  conversations: choice(["queue", "reject"])
    .default("queue")
    .describe("What a request does while its conversation is busy: wait in the queue, or fail with 409."),
  runs: runsSchema,
  idempotencyMs: duration(86_400_000, 1000).describe(
    "How long an `Idempotency-Key` is kept. Until then a repeated request gets the same response and runs nothing.",
  ),
  watchdog: section("Protection against a hanging process.", {
    blockedMs: duration(60_000, 0).describe(
      "How long a run may block the event loop before `rondo serve` ends the process and logs which run it was. 0: for ever.",
    ),
  }),
  limits: limitsSchema,
  urls: section("URLs of images and files in requests.", {
    schemes: listOf(text("a scheme such as https", isScheme), "a list of schemes")
      .default([...defaultUrlRules.schemes])
      .describe("The schemes that are allowed."),
    allowPrivate: privateHosts().describe(
      "Private hosts that are allowed all the same; `*` for all. The model server may fetch them.",
    ),
  }),
  compat: section("Compatibility with clients.", {
    requiresActionStatus: autoOrFlag()
      .default("auto")
      .describe(
        "Whether clients see the status `requires_action` of a response that waits for them; else `completed`. `auto`: all but those built on OpenAI's SDKs, which do not know it (`x-stainless-*`, `User-Agent`). It is stored, listed and counted as `requires_action` in any case.",
      ),
    thoughts: choice(["summary", "content", "both"])
      .default("summary")
      .describe(
        "Where the thoughts of a model are in its `reasoning` items: in `summary`, which all clients know and most show; in `content`; or in both.",
      ),
    strict: flagValue()
      .default(false)
      .describe("Whether unknown fields, tools and items are errors. If not, they are ignored."),
  }),
  auth: authSchema
    .optional()
    .describe("Who may use the server. Without it, everyone who can reach it is the owner `local`."),
  sealKeys: listOf(
    text("a secret of at least 16 characters", (value) => value.length >= 16),
    "a list of secrets",
  )
    .default([])
    .meta({
      description:
        "Secrets that encrypt the thinking and compactions that clients keep. The first encrypts, all decrypt: put a new one first. If empty, the store has a secret of its own.",
      isSecret: true,
    }),
  cors: section("Calls from browsers.", {
    origins: listOf(text("an origin such as https://app.example.org, or *", isOrigin), "a list of origins")
      .default([])
      .describe("Web pages that may call the server from a browser. None if empty, all with `*`."),
  }),
  console: flagValue()
    .default(true)
    .describe(
      "Whether the server has the console, a page for browsers at `/`, and the routes that it needs (`/v1/system`, `/v1/tools`).",
    ),
  log: section("The log, on standard error.", {
    level: choice(["debug", "info", "warn", "error", "silent"])
      .default("info")
      .meta({ description: "The lowest level that is logged.", flag: "--log <level>" }),
    format: choice(["json", "text"])
      .default("text")
      .meta({ description: "JSON lines, or text for people.", flag: "--log-format <format>" }),
  }),
  audit: text("the path of a file, or stdout").optional().meta({
    description:
      "Where the audit log goes (docs/audit.md): who did what, as JSON lines, to a file, relative to the working directory, or to `stdout`. None if not set.",
    flag: "--audit <file>",
  }),
  onAuditFailure: choice(["refuse", "warn"])
    .default("refuse")
    .describe(
      "What happens while the audit log cannot be written, as on a full disk: requests and calls are refused with 503 and background runs wait, or all goes on with a warning in the log and a gap in the audit log.",
    ),
  telemetry: section("Spans of runs for OpenTelemetry (docs/opentelemetry.md).", {
    otel: flagValue()
      .default(false)
      .describe(
        "Whether each run makes spans, and `traceparent` is read from clients and sent to model servers and MCP servers. Needs the package `@opentelemetry/api`; the SDK is set up by your own file, with `node --import`.",
      ),
    content: flagValue()
      .default(false)
      .describe(
        "Whether spans have what was said: messages, arguments and results of tools, and the messages of errors.",
      ),
    openInference: flagValue()
      .default(false)
      .describe("Whether spans also have the attributes of OpenInference, for Arize Phoenix and others."),
  }),
  shutdownMs: duration(10_000, 0).describe("How long requests in flight may take to end at shutdown."),
  webSocket: webSocketSchema,
  keepAliveMs: duration(15_000, 100).describe("How long a stream may be silent before it gets a keep-alive."),
  stallMs: duration(120_000, 100).describe("How long a client may stop reading before it is disconnected."),
}).superRefine(({ endpoints, models, defaultModel }, context) => {
  // With endpoints the name may be one of theirs, which are not known yet.
  const names = Object.keys(models);
  if (defaultModel === undefined || endpoints.length > 0 || names.length === 0) return;
  if (!names.includes(defaultModel))
    context.addIssue({
      code: "custom",
      path: ["defaultModel"],
      message: `one of the models ${names.join(", ")}`,
    });
});

/** What a config file may hold. Everything has a default. */
export type ConfigInput = z.input<typeof configSchema>;

/** The settings of a server, defaults filled in. */
export type ServerConfig = z.output<typeof configSchema>;

/**
 * Returns what it is given. For the default export of `rondo.config.ts`, where it lets the editor complete and
 * check the settings.
 */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}

// Values made by code are recognised by their shape: they may come from another copy of the library.

const storeMethods = ["get", "list", "create", "commit", "resume", "close"] satisfies (keyof Store)[];

function missingMethods(value: unknown, names: readonly string[]): string[] {
  const object = Object(value) as Record<string, unknown>;
  return names.filter((name) => typeof object[name] !== "function");
}

function isTool(value: unknown): boolean {
  return (
    typeof (Object(value) as Partial<AnyTool>).wireName === "string" &&
    missingMethods(value, ["toOpenAI"]).length === 0
  );
}

function isExecutor(value: unknown): boolean {
  const { kind } = Object(value) as Partial<ToolExecutor>;
  const runs = ["execute", "stream", "offer"].some((name) => missingMethods(value, [name]).length === 0);
  return typeof kind === "string" && missingMethods(value, ["canExecute"]).length === 0 && runs;
}

function isHost(value: string): boolean {
  return isIP(value) !== 0 || /^[\w.-]+$/.test(value);
}

function isScheme(value: string): boolean {
  return /^[a-z][a-z0-9+.-]{0,31}$/.test(value);
}

function isOrigin(value: string): boolean {
  return value === "*" || URL.parse(value)?.origin === value;
}
