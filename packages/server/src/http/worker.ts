// A worker for one config: it works on the background runs of a store that servers share, and has no API.

import { resolveConfig } from "../config/check-config.ts";
import { isLoopback } from "../config/exposure.ts";
import { packageVersion } from "../config/package-version.ts";
import type { ConfigInput, ServerConfig } from "../config/schema.ts";
import { checkWorkerStore } from "../config/shared-store.ts";
import { Conversations } from "../run/conversations.ts";
import { createApp } from "./app.ts";
import { Exchanges } from "./exchange.ts";
import { type Listening, listen } from "./listen.ts";
import { RequestAudit } from "./request-audit.ts";
import { type Runtime, type StartOptions, startRuntime } from "./runtime.ts";

export interface RunningWorker extends AsyncDisposable {
  /** Where its health and metrics are; undefined without a `healthPort`. */
  readonly url: string | undefined;
  /** Claims no more runs, hands over those at work, and closes all. */
  close(): Promise<void>;
}

/**
 * Starts a worker with these settings; it reads no file and no environment. Throws when a setting is invalid or the
 * store belongs to one process (`ConfigError`), when the store cannot be opened (`StoreError`), or when it cannot listen
 * on its `healthPort` (`ListenError`).
 */
export async function startWorker(input: ConfigInput, options: StartOptions = {}): Promise<RunningWorker> {
  const given = resolveConfig(input);
  const config = { ...given, runs: { ...given.runs, enabled: true } };
  checkWorkerStore(config);
  const runtime = await startRuntime(config, options);
  const { logger } = runtime;
  let listening: Listening | undefined;
  try {
    runtime.startExecutors();
    if (config.healthPort !== undefined)
      listening = await listenForHealth(config, config.healthPort, runtime);
  } catch (error) {
    await runtime.drain(0);
    await runtime.close();
    throw error;
  }
  const url = listening?.url;
  let closing: Promise<void> | undefined;
  const close = async () => {
    const { shutdownMs } = config;
    const released = runtime
      .drain(shutdownMs)
      .catch((error: unknown) => logger.error("Runs could not be released.", {}, error));
    await listening?.close({ graceMs: shutdownMs, released });
    await released;
    await runtime.close();
    logger.info("The worker has stopped.");
  };
  const closeOnce = () => {
    closing ??= close();
    return closing;
  };
  logger.info("The worker has started.", { url });
  return { url, close: closeOnce, [Symbol.asyncDispose]: closeOnce };
}

/** Needs no key: what it shows, a server shows to everyone too. */
function listenForHealth(config: ServerConfig, port: number, runtime: Runtime): Promise<Listening> {
  const { store, models, executors, responses, files, containers, logger, metrics, audit } = runtime;
  const { host } = config;
  const exchanges = new Exchanges();
  const app = createApp({
    servesApi: false,
    responses,
    conversations: new Conversations({ store, executors, limits: { maxItems: config.limits.items } }),
    files,
    containers,
    models,
    logger,
    metrics,
    exchanges,
    audit: audit && new RequestAudit(audit),
    authenticate: () => Promise.reject(new Error("A worker has no route that needs a key.")),
    isOpenOnLoopback: isLoopback(host),
    version: packageVersion(),
  });
  return listen({ app, exchanges, logger, host, port });
}
