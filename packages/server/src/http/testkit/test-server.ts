// The app on a free port of loopback, with a service that a test gives, and a log that it can read.

import { resolveConfig } from "../../config/check-config.ts";
import { SandboxHost } from "../../executor/sandbox/sandbox-host.ts";
import { ContainersApi } from "../../run/containers.ts";
import { Conversations } from "../../run/conversations.ts";
import { Files } from "../../run/files.ts";
import { memoryStore } from "../../store/testkit/memory.ts";
import { type AppOptions, createApp } from "../app.ts";
import { Exchanges } from "../exchange.ts";
import { type Listening, type ListenOptions, listen } from "../listen.ts";
import { createLogger, type LogLevel } from "../log.ts";
import { Metrics } from "../metrics.ts";
import { LogTail } from "../system/log-tail.ts";
import { ModelChecker } from "../system/model-checker.ts";
import { ModelFacts } from "../system/model-facts.ts";
import { Samples } from "../system/samples.ts";
import { System } from "../system/system.ts";
import { Toolbox } from "../system/toolbox.ts";
import { type FakeResponses, fakeResponses } from "./fake-responses.ts";

export interface TestServer extends Listening, AsyncDisposable {
  readonly responses: FakeResponses;
  readonly exchanges: Exchanges;
  readonly metrics: Metrics;
  /** The lines of the log so far, read as JSON. */
  log(): Record<string, unknown>[];
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** POSTs JSON. */
  post(
    path: string,
    body: unknown,
    init?: { headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>;
}

const noModels = { servers: async () => [], list: async () => [] };

/** Samples that only a test takes. */
function testSamples(metrics: Metrics): Samples {
  const samples = new Samples({ metrics, queue: { count: async () => ({ queued: 0, running: 0 }) } });
  samples.close();
  return samples;
}

/** The options of an app whose services do what `methods` say, or nothing. */
export function testOptions(
  methods: Parameters<typeof fakeResponses>[0] = {},
  write: (lines: string) => void = () => {},
  level: LogLevel = "debug",
) {
  const files = new Files({
    store: memoryStore(),
    limits: { filesPerOwner: 3, fileBytesPerOwner: 3_000_000 },
  });
  const { sandbox: settings } = resolveConfig({ sandbox: { kind: "none" } });
  const openTier = () => Promise.reject(new Error("This test has no sandbox."));
  const sandbox = new SandboxHost({ settings, openTier, onWarning: () => {} });
  const metrics = new Metrics();
  const logger = createLogger({ level, write });
  return {
    responses: fakeResponses(methods),
    conversations: new Conversations({ store: memoryStore(), limits: { maxItems: 1000 } }),
    files,
    containers: new ContainersApi({ host: sandbox, files }),
    fileBytes: 1_000_000,
    models: { resolve: () => Promise.reject(new Error("This test has no models.")) },
    authenticate: async () => ({ owner: "local" }),
    logger,
    metrics,
    console: {
      system: new System({
        version: "1.2.3",
        hasAuth: true,
        store: "memory",
        queue: { count: async () => ({ queued: 0, running: 0 }) },
        models: noModels,
        sandbox,
        metrics,
        traces: "off",
      }),
      toolbox: new Toolbox({
        tools: [],
        offerTools: "always",
        mcp: { configured: [] },
        sandbox,
        hasAuth: true,
        logger,
        metrics,
      }),
      modelFacts: new ModelFacts(noModels),
      modelChecker: new ModelChecker({ models: noModels, hasAuth: true }),
      samples: testSamples(metrics),
      logTail: new LogTail({ level: "info" }),
      hasAuth: true,
    },
    version: "1.2.3",
    keepAliveMs: 15_000,
    isOpenOnLoopback: true,
    exchanges: new Exchanges(),
  } satisfies AppOptions;
}

export async function testServer(
  methods: Parameters<typeof fakeResponses>[0] = {},
  options: Partial<AppOptions> & { level?: LogLevel } = {},
  listening: Partial<ListenOptions> = {},
): Promise<TestServer> {
  let lines = "";
  const usual = testOptions(methods, (text) => (lines += text), options.level);
  const { responses, exchanges, metrics, logger } = usual;
  const app = createApp({ ...usual, ...options });
  const running = await listen({ app, exchanges, logger, host: "127.0.0.1", port: 0, ...listening });
  const fetchPath = (path: string, init?: RequestInit) => fetch(running.url + path, init);
  return {
    ...running,
    responses,
    exchanges,
    metrics,
    log: () =>
      lines
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    fetch: fetchPath,
    post: (path, body, init) =>
      fetchPath(path, {
        ...init,
        method: "POST",
        headers: { "content-type": "application/json", ...init?.headers },
        body: JSON.stringify(body),
      }),
    [Symbol.asyncDispose]: () => running.close({ graceMs: 0 }),
  };
}
