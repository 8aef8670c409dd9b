// The whole server for one config: store, models, runs and HTTP, started and shut down together.

import { resolveConfig } from "../config/check-config.ts";
import { checkExposure, isLoopback } from "../config/exposure.ts";
import { packageVersion } from "../config/package-version.ts";
import type { ConfigInput, ServerConfig } from "../config/schema.ts";
import { checkRunsElsewhere } from "../config/shared-store.ts";
import type { SandboxState } from "../executor/sandbox/sandbox-host.ts";
import { Conversations } from "../run/conversations.ts";
import { createApp } from "./app.ts";
import { authenticator } from "./auth.ts";
import { Exchanges } from "./exchange.ts";
import { type Listening, listen } from "./listen.ts";
import { createLogger } from "./log.ts";
import { OwnerLimits } from "./owner-limits.ts";
import { RequestAudit } from "./request-audit.ts";
import { type Runtime, type StartOptions, startRuntime } from "./runtime.ts";
import { consoleParts } from "./system/console-parts.ts";
import { LogTail } from "./system/log-tail.ts";
import type { ConsoleParts } from "./system/system-routes.ts";
import { WebSockets } from "./websocket/web-sockets.ts";

export type { StartOptions };

export interface RunningServer extends AsyncDisposable {
  /** Its URL on this machine, without `/v1`. */
  readonly url: string;
  readonly port: number;
  /** Whether the code of models can be run. Tries it out the first time. */
  sandbox(): Promise<SandboxState>;
  /**
   * Shuts down: accepts no new requests, gives those in flight `shutdownMs` to finish, and leaves background runs to
   * the next start. Resolves when all is closed.
   */
  close(): Promise<void>;
}

/**
 * Starts a server with these settings; unlike `loadConfig()`, it reads no file and no environment. Throws when a
 * setting is invalid or other machines could use it without a key (`ConfigError`), when the store cannot be opened
 * (`StoreError`), when the audit log cannot be, or when it cannot listen on the address (`ListenError`).
 */
export async function startServer(input: ConfigInput, options: StartOptions = {}): Promise<RunningServer> {
  const config = resolveConfig(input);
  checkExposure(config);
  checkRunsElsewhere(config);
  const logger = options.logger ?? createLogger(config.log);
  const logTail = config.console ? new LogTail(config.log) : undefined;
  const runtime = await startRuntime(config, { ...options, logger: logTail?.around(logger) ?? logger });
  const parts = logTail && consoleParts(config, runtime, logTail);
  try {
    const listening = await listenForClients(config, runtime, parts);
    return runningServer(config, runtime, listening, parts);
  } catch (error) {
    parts?.samples.close();
    await runtime.drain(0);
    await runtime.close();
    throw error;
  }
}

async function listenForClients(
  config: ServerConfig,
  runtime: Runtime,
  parts: ConsoleParts | undefined,
): Promise<Listening> {
  const { store, models, executors, responses, files, containers, logger, metrics, audit } = runtime;
  const exchanges = new Exchanges();
  const shared = {
    responses,
    logger,
    metrics,
    authenticate: await authenticator(config.auth, { onWarning: (message) => logger.warn(message) }),
    bodyBytes: config.limits.bodyBytes,
    keepAliveMs: config.keepAliveMs,
    origins: config.cors.origins,
    isOpenOnLoopback: config.auth === undefined && isLoopback(config.host),
    ownerLimits: new OwnerLimits(config.limits),
    requiresActionStatus: config.compat.requiresActionStatus,
    audit: audit && new RequestAudit(audit),
  };
  const app = createApp({
    ...shared,
    console: parts,
    conversations: new Conversations({
      store,
      executors,
      limits: { maxItems: config.limits.items, urls: config.urls },
    }),
    files,
    containers,
    fileBytes: config.limits.fileBytes,
    urls: config.urls,
    telemetry: runtime.telemetry,
    models,
    exchanges,
    version: packageVersion(),
    hasConsole: config.console,
  });
  const { host, port, stallMs } = config;
  const { keptResponses, keptBytes, keptBytesPerOwner, ...socketLimits } = config.webSocket;
  const recent = { responses: keptResponses, bytes: keptBytes, ownerBytes: keptBytesPerOwner };
  const { connections, headersMs, requestMs } = config.limits;
  const webSockets = new WebSockets({ ...shared, ...socketLimits, stallMs, requestMs, recent });
  const limits = { stallMs, connections, headersMs, requestMs };
  runtime.startExecutors();
  return listen({ app, exchanges, webSockets, logger, host, port, ...limits });
}

function runningServer(
  config: ServerConfig,
  runtime: Runtime,
  listening: Listening,
  parts: ConsoleParts | undefined,
): RunningServer {
  const { logger } = runtime;
  const { url, port } = listening;
  let closing: Promise<void> | undefined;
  const close = async () => {
    const released = runtime
      .drain(config.shutdownMs)
      .catch((error: unknown) => logger.error("Runs could not be released.", {}, error));
    await listening.close({ graceMs: config.shutdownMs, released });
    await released;
    parts?.samples.close();
    await runtime.close();
    logger.info("The server has stopped.", { url });
  };
  const closeOnce = () => {
    closing ??= close();
    return closing;
  };
  logger.info("The server has started.", { url });
  const sandbox = () => runtime.sandbox.state();
  return { url, port, sandbox, close: closeOnce, [Symbol.asyncDispose]: closeOnce };
}
