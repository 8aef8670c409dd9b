// The whole server for one config: store, models, runs and HTTP, started and shut down together.

import { resolveConfig } from "../config/check-config.ts";
import { checkExposure, isLoopback } from "../config/exposure.ts";
import { ConfiguredModels, type Models } from "../config/models.ts";
import { packageVersion } from "../config/package-version.ts";
import type { ConfigInput, ServerConfig } from "../config/schema.ts";
import { Executors } from "../executor/executors.ts";
import { McpExecutor } from "../executor/mcp/mcp-executor.ts";
import { Conversations } from "../run/conversations.ts";
import { Responses } from "../run/responses.ts";
import { startWatchdog } from "../run/watchdog/watchdog.ts";
import { crashNotePath } from "../store/crash-note.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { createApp } from "./app.ts";
import { authenticator } from "./auth.ts";
import { Exchanges } from "./exchange.ts";
import { expireOld } from "./expiry.ts";
import { type Listening, listen } from "./listen.ts";
import { createLogger, type Logger } from "./log.ts";
import { Metrics } from "./metrics.ts";
import { OwnerLimits } from "./owner-limits.ts";
import { runObserver } from "./run-observer.ts";
import { WebSockets } from "./websocket/web-sockets.ts";

export interface RunningServer extends AsyncDisposable {
  /** Its URL on this machine, without `/v1`. */
  readonly url: string;
  readonly port: number;
  /**
   * Shuts down: accepts no new requests, gives those in flight `shutdownMs` to finish, and leaves background runs to
   * the next start. Resolves when all is closed.
   */
  close(): Promise<void>;
}

export interface StartOptions {
  /** Receives the log. Default: lines on stderr, as configured by `config.log`. */
  logger?: Logger;
  /**
   * Whether the process exits when a run blocks its event loop for `watchdog.blockedMs`, and names the runs that made
   * it exit: for a process that does nothing else. Default: false; `rondo serve` sets it.
   */
  hasWatchdog?: boolean;
}

/**
 * Starts a server with these settings; unlike `loadConfig()`, it reads no file and no environment. Throws when a
 * setting is invalid or other machines could use it without a key (`ConfigError`), when the store cannot be opened
 * (`StoreError`) or when it cannot listen on the address (`ListenError`).
 */
export async function startServer(input: ConfigInput, options: StartOptions = {}): Promise<RunningServer> {
  const config = resolveConfig(input);
  checkExposure(config);
  const logger = options.logger ?? createLogger(config.log);
  const metrics = new Metrics();
  const exchanges = new Exchanges();
  const store = await openStore(config.store, { onWarning: (message) => logger.warn(message) });
  const mcp = new McpExecutor({ ...config.mcp, onWarning: (message) => logger.warn(message) });
  const executors = new Executors({
    tools: config.tools,
    offerTools: config.offerTools,
    executors: config.executors,
    mcp,
  });
  let responses: Responses | undefined;
  let stopWatchdog: (() => Promise<void>) | undefined;
  try {
    // Before the first run: one of them may have crashed the last process.
    if (options.hasWatchdog)
      stopWatchdog = startWatchdog({ ...config.watchdog, notePath: crashNotePath(config.store) });
    const models = new ConfiguredModels(config, { onWarning: (message) => logger.warn(message) });
    responses = await startResponses(config, { store, models, executors, logger, metrics });
    const shared = {
      responses,
      logger,
      metrics,
      authenticate: authenticator(config.auth, { onWarning: (message) => logger.warn(message) }),
      bodyBytes: config.limits.bodyBytes,
      keepAliveMs: config.keepAliveMs,
      origins: config.cors.origins,
      isOpenOnLoopback: config.auth === undefined && isLoopback(config.host),
      ownerLimits: new OwnerLimits(config.limits),
      requiresActionStatus: config.compat.requiresActionStatus,
    };
    const app = createApp({
      ...shared,
      conversations: new Conversations({
        store,
        executors,
        limits: { maxItems: config.limits.items, urls: config.urls },
      }),
      urls: config.urls,
      models,
      exchanges,
      version: packageVersion(),
    });
    metrics.watchQueue(() => store.queue.count());
    const { host, port, stallMs } = config;
    const { keptResponses, keptBytes, keptBytesPerOwner, ...socketLimits } = config.webSocket;
    const recent = { responses: keptResponses, bytes: keptBytes, ownerBytes: keptBytesPerOwner };
    const { connections, headersMs, requestMs } = config.limits;
    const webSockets = new WebSockets({ ...shared, ...socketLimits, stallMs, requestMs, recent });
    const limits = { stallMs, connections, headersMs, requestMs };
    executors.start(); // before anyone can connect: one that throws ends the start
    const listening = await listen({ app, exchanges, webSockets, logger, host, port, ...limits });
    return runningServer(config, { store, responses, executors, listening, logger, stopWatchdog });
  } catch (error) {
    await responses?.drain(0);
    await closeExecutors(executors, logger);
    await stopWatchdog?.();
    await store.close();
    throw error;
  }
}

function startResponses(
  config: ServerConfig,
  parts: Pick<Parts, "store" | "logger" | "executors"> & { models: Models; metrics: Metrics },
): Promise<Responses> {
  const { store, models, executors, logger, metrics } = parts;
  const { conversations, maxAgenticTurns, maxRepeats, onLimit, onPromptCut, limits, compat, runs } = config;
  return Responses.start({
    store,
    models,
    executors,
    maxAgenticTurns,
    maxRepeats,
    onPromptCut,
    maxResultTokens: config.maxResultTokens,
    maxOfferedTools: config.maxOfferedTools,
    asksForFinalAnswer: onLimit === undefined ? undefined : onLimit === "final_answer",
    limits: {
      maxItems: limits.items,
      maxTools: limits.tools,
      maxSchemaBytes: limits.schemaBytes,
      maxToolBytes: limits.toolBytes,
    },
    urls: config.urls,
    sealKeys: config.sealKeys,
    isStrict: compat.strict,
    thoughts: compat.thoughts,
    conversations,
    runs,
    idempotencyMs: config.idempotencyMs,
    waitingRunsPerOwner: limits.waitingRunsPerOwner,
    observer: runObserver(logger, metrics),
  });
}

interface Parts {
  store: Store;
  responses: Responses;
  executors: Executors;
  listening: Listening;
  logger: Logger;
  stopWatchdog: (() => Promise<void>) | undefined;
}

/** One that fails must not keep the store open. */
async function closeExecutors(executors: Executors, logger: Logger): Promise<void> {
  await executors
    .close()
    .catch((error: unknown) => logger.error("An executor could not be closed.", {}, error));
}

function runningServer(config: ServerConfig, parts: Parts): RunningServer {
  const { store, responses, executors, listening, logger, stopWatchdog } = parts;
  const { url, port } = listening;
  const stopExpiry = expireOld(store, config.keepDays, logger);
  let closing: Promise<void> | undefined;
  const close = async () => {
    stopExpiry();
    const released = responses
      .drain(config.shutdownMs)
      .catch((error: unknown) => logger.error("Runs could not be released.", {}, error));
    await listening.close({ graceMs: config.shutdownMs, released });
    await released;
    await closeExecutors(executors, logger);
    await stopWatchdog?.();
    await store.close();
    logger.info("The server has stopped.", { url });
  };
  const closeOnce = () => {
    closing ??= close();
    return closing;
  };
  logger.info("The server has started.", { url });
  return { url, port, close: closeOnce, [Symbol.asyncDispose]: closeOnce };
}
