// Every setting of the server, once: its key, what it allows, its default, its flag and its meaning. The file,
// the environment, the flags and docs/server-config.md all come from here.

import { isIP } from "node:net";
import type { AnyTool } from "rondo";
import type { z } from "zod";
import type { ToolExecutor } from "../executor/executor.ts";
import { defaultUrlRules } from "../protocol/input-urls.ts";
import { authSchema } from "./auth-schema.ts";
import {
  amountAbove0,
  byName,
  choice,
  flagValue,
  group,
  listOf,
  made,
  milliseconds,
  text,
  wholeNumber,
} from "./fields.ts";
import { isUrlHost, mcpSchema } from "./mcp-schema.ts";
import { endpointSchema, modelSchema } from "./model-schema.ts";

export const configSchema = group({
  host: text("an address or a host name, without a port", isHost).default("127.0.0.1").meta({
    description:
      "Where to listen. Anything but this machine itself (127.0.0.1, ::1, localhost) demands `auth`.",
    flag: "--host <address>",
  }),
  port: wholeNumber(0, 65_535)
    .default(4500)
    .meta({ description: "The port to listen on; 0 takes any that is free.", flag: "--port <number>" }),
  store: text("memory or sqlite:PATH", (value) => /^(memory|sqlite:.+)$/.test(value))
    .default("sqlite:./rondo.db")
    .meta({
      description:
        "Where responses are kept: `sqlite:PATH`, seen from the working directory, or `memory` to forget them.",
      flag: "--store <store>",
    }),
  keepDays: amountAbove0("days")
    .optional()
    .meta({ description: "How long responses are kept. For ever if not set." }),
  endpoints: listOf(endpointSchema, "a list of endpoints")
    .default([])
    .meta({ description: "Model servers. All models of each are served, under their own names." }),
  models: byName(modelSchema, "names with a group for each")
    .default({})
    .meta({ description: "Models by the names that clients use. They win over those of the endpoints." }),
  defaultModel: text("the name of a model")
    .optional()
    .meta({ description: "For requests without a model.", flag: "--default-model <name>" }),
  tools: listOf(made<AnyTool>("a tool made with tool()", isTool), "a list of tools")
    .default([])
    .meta({ description: "Tools that every request may use and that run in this process. Only in code." }),
  executors: listOf(made<ToolExecutor>("an executor", isExecutor), "a list of executors")
    .default([])
    .meta({ description: "Who runs tools of other kinds. The first that can, does. Only in code." }),
  mcp: mcpSchema.prefault({}).meta({ description: "Tools of MCP servers (docs/mcp.md)." }),
  maxAgenticTurns: wholeNumber(1)
    .default(10)
    .meta({ description: "How many model calls a response may take." }),
  maxRepeats: wholeNumber(1).default(3).meta({
    description:
      "How often in a row the server runs a call with the same arguments and the same result, and how many answers in a row may have no call that can run (docs/server.md). A large number lifts the limit.",
  }),
  onLimit: choice(["incomplete", "final_answer"]).optional().meta({
    description:
      "What happens then: stop, or one last model call without tools. If not set, stop where the server has run tools, and answer where only the client could.",
  }),
  conversations: choice(["queue", "reject"]).default("queue").meta({
    description:
      "What a request does while another one of its conversation runs: wait for its turn, or be refused with 409.",
  }),
  runs: group({
    concurrency: wholeNumber(1).default(8).meta({ description: "How many background runs work at once." }),
    leaseMs: milliseconds(1000)
      .default(30_000)
      .meta({ description: "After how long a run whose worker is silent goes to another." }),
    maxAttempts: wholeNumber(1).default(5).meta({
      description: "How many times a run is retried after crashes that it is to blame for before it fails.",
    }),
  })
    .prefault({})
    .meta({ description: "Background runs." }),
  idempotencyMs: milliseconds(1000).default(86_400_000).meta({
    description:
      "How long an `Idempotency-Key` is kept: until then the same request gives the same response, and runs nothing.",
  }),
  watchdog: group({
    blockedMs: milliseconds(0).default(60_000).meta({
      description:
        "How long a run may block the event loop before `rondo serve` ends the process, with a line that names the run. 0: for ever.",
    }),
  })
    .prefault({})
    .meta({ description: "What keeps the server from hanging." }),
  limits: group({
    bodyBytes: wholeNumber(1).default(10_000_000).meta({ description: "The largest body of a request." }),
    items: wholeNumber(1).default(1000).meta({ description: "How many input items a request may have." }),
    tools: wholeNumber(1).default(128).meta({ description: "How many tools a request may have." }),
    headersMs: milliseconds(100)
      .default(30_000)
      .meta({ description: "How long the headers of a request may take to arrive." }),
    requestMs: milliseconds(100).default(120_000).meta({
      description: "How long a request may take to arrive, with its body; a WebSocket message too.",
    }),
    connections: wholeNumber(1)
      .default(10_000)
      .meta({ description: "How many connections may be open. Further ones are closed at once." }),
    requestsPerOwner: wholeNumber(1)
      .default(2048)
      .meta({ description: "How many requests an owner may have at once. Further ones get 429." }),
    bodyBytesPerOwner: wholeNumber(1)
      .default(200_000_000)
      .meta({ description: "How large the bodies of these requests and their answers may be together." }),
    waitingRunsPerOwner: wholeNumber(1)
      .default(10_000)
      .meta({ description: "How many background runs of an owner may wait. Further ones get 429." }),
    toolBytes: wholeNumber(1)
      .default(2_000_000)
      .meta({ description: "The most bytes of JSON that the tools of a request have together." }),
    schemaBytes: wholeNumber(1)
      .default(262_144)
      .meta({ description: "The largest JSON Schema of a tool, or of the answer (`text.format`)." }),
  })
    .prefault({})
    .meta({ description: "What clients may cost." }),
  urls: group({
    schemes: listOf(text("a scheme such as https", isScheme), "a list of schemes")
      .default([...defaultUrlRules.schemes])
      .meta({ description: "What URLs of images and files in requests may begin with." }),
    allowPrivate: listOf(text("a host of a URL, with or without a port, or *", isUrlHost), "a list of hosts")
      .default([])
      .meta({
        description:
          "Hosts that these URLs may name although they are private; `*` for all. The model server may fetch them.",
      }),
  })
    .prefault({})
    .meta({ description: "URLs of images and files in requests." }),
  compat: group({
    requiresActionStatus: flagValue().default(true).meta({
      description: "Whether a response that waits for the client says `requires_action`; else `completed`.",
    }),
    strict: flagValue()
      .default(false)
      .meta({ description: "Whether unknown fields, tools and items are errors rather than ignored." }),
  })
    .prefault({})
    .meta({ description: "How closely clients are met." }),
  auth: authSchema.optional().meta({
    description: "Who may use the server. Without it everyone who can reach it is the owner `local`.",
  }),
  sealKeys: listOf(
    text("a secret of at least 16 characters", (value) => value.length >= 16),
    "a list of secrets",
  )
    .default([])
    .meta({
      description:
        "Secrets from which thoughts and compactions are sealed for clients that keep them. The first seals, all are read: put a new one first. A secret of the store's if empty.",
      isSecret: true,
    }),
  cors: group({
    origins: listOf(text("an origin such as https://app.example.org, or *", isOrigin), "a list of origins")
      .default([])
      .meta({
        description: "Web pages that may call the server from a browser. None if empty, all with `*`.",
      }),
  })
    .prefault({})
    .meta({ description: "Calls from browsers." }),
  log: group({
    level: choice(["debug", "info", "warn", "error", "silent"])
      .default("info")
      .meta({ description: "The least important lines that are written.", flag: "--log <level>" }),
    format: choice(["json", "text"])
      .default("text")
      .meta({ description: "Lines for programs or for people.", flag: "--log-format <format>" }),
  })
    .prefault({})
    .meta({ description: "The log, on standard error." }),
  shutdownMs: milliseconds(0)
    .default(10_000)
    .meta({ description: "How long running requests get to end when the server is told to stop." }),
  webSocket: group({
    lifeMs: milliseconds(1000).default(3_600_000).meta({
      description: "How long a connection may live before it is closed, with an error that says why.",
    }),
    keptResponses: wholeNumber(0).default(32).meta({
      description:
        "How many responses with `store: false` a connection keeps, so that others can follow them.",
    }),
    keptBytes: wholeNumber(0)
      .default(20_000_000)
      .meta({ description: "How much these and what came before them may be together." }),
    keptBytesPerOwner: wholeNumber(0)
      .default(200_000_000)
      .meta({ description: "How much all connections of an owner may keep together." }),
    connections: wholeNumber(1).default(2000).meta({ description: "How many connections may be open." }),
    connectionsPerOwner: wholeNumber(1)
      .default(100)
      .meta({ description: "How many connections an owner may have open. Further ones get 429." }),
    messagesPerMinute: wholeNumber(1)
      .default(6000)
      .meta({ description: "How many messages a client may send on a connection in a minute." }),
    pingsPerMinute: wholeNumber(1)
      .default(120)
      .meta({ description: "How many pings and pongs a client may send on a connection in a minute." }),
  })
    .prefault({})
    .meta({ description: "WebSocket connections." }),
  keepAliveMs: milliseconds(100)
    .default(15_000)
    .meta({ description: "After how much silence a stream gets a sign of life." }),
  stallMs: milliseconds(100).default(120_000).meta({
    description:
      "How long a client may leave what was sent to it unread. Then its connection is cut, as if it had gone.",
  }),
}).superRefine(({ endpoints, models, defaultModel }, context) => {
  // With endpoints the name may be one of theirs, which nobody knows yet.
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

function isTool(value: unknown): boolean {
  // By its looks: the config may have tools of another copy of the library.
  const { wireName, toOpenAI } = Object(value) as Partial<AnyTool>;
  return typeof wireName === "string" && typeof toOpenAI === "function";
}

function isExecutor(value: unknown): boolean {
  const { kind, canExecute, execute, stream, offer } = Object(value) as Partial<ToolExecutor>;
  const runs = [execute, stream, offer].some((method) => typeof method === "function");
  return typeof kind === "string" && typeof canExecute === "function" && runs;
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
