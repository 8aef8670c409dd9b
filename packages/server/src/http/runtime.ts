// What a server and a worker have in common: the store, the models, the tools and the runs, started and closed together.

import type { Audit, AuditLog } from "../audit/audit-log.ts";
import { openAudit } from "../audit/open-audit.ts";
import { ConfiguredModels } from "../config/models.ts";
import { packageVersion } from "../config/package-version.ts";
import type { ServerConfig } from "../config/schema.ts";
import { Executors } from "../executor/executors.ts";
import { McpExecutor } from "../executor/mcp/mcp-executor.ts";
import { openTier } from "../executor/sandbox/open-tier.ts";
import { sandboxExecutors } from "../executor/sandbox/sandbox-executor.ts";
import { SandboxHost } from "../executor/sandbox/sandbox-host.ts";
import { ContainersApi } from "../run/containers.ts";
import { Files } from "../run/files.ts";
import { Responses } from "../run/responses.ts";
import type { Telemetry } from "../run/telemetry.ts";
import { startWatchdog } from "../run/watchdog/watchdog.ts";
import { crashNotePath } from "../store/crash-note.ts";
import { openStore } from "../store/open-store.ts";
import type { Store } from "../store/store.ts";
import { auditedExpiry, expireOld } from "./expiry.ts";
import { createLogger, type Logger } from "./log.ts";
import { Metrics } from "./metrics.ts";
import { runObserver } from "./run-observer.ts";
import { startTelemetry } from "./start-telemetry.ts";

export interface StartOptions {
  /** Receives the log. Default: lines on stderr, as configured by `config.log`. */
  logger?: Logger;
  /**
   * Whether the process exits when a run blocks its event loop for `watchdog.blockedMs`, and names the runs that made
   * it exit: for a process that does nothing else. Default: false; `rondo serve` and `rondo worker` set it.
   */
  hasWatchdog?: boolean;
}

export interface Runtime {
  readonly store: Store;
  readonly models: ConfiguredModels;
  readonly executors: Executors;
  readonly mcp: McpExecutor;
  readonly responses: Responses;
  readonly files: Files;
  readonly sandbox: SandboxHost;
  readonly containers: ContainersApi;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry | undefined;
  /** The audit log, if there is one. */
  readonly audit: Audit | undefined;
  /** Starts the executors. Before anyone can connect: one that throws ends the start. */
  startExecutors(): void;
  /** Claims no more jobs, and gives the active runs this long to end. */
  drain(graceMs: number): Promise<void>;
  /** Closes everything else. After `drain()`. */
  close(): Promise<void>;
}

/** Throws when the store cannot be opened (`StoreError`). */
export async function startRuntime(config: ServerConfig, options: StartOptions): Promise<Runtime> {
  const logger = options.logger ?? createLogger(config.log);
  const onWarning = (message: string) => logger.warn(message);
  const telemetry = await startTelemetry(config.telemetry, logger);
  const metrics = new Metrics();
  const audit = auditOf(config, logger);
  const store = await openStore(config.store, { postgres: config.postgres, onWarning }).catch(
    async (error: unknown) => {
      await audit?.close();
      throw error;
    },
  );
  const files = new Files({ store, limits: config.limits });
  const { sandbox: settings } = config;
  const sandbox = new SandboxHost({
    settings,
    openTier: () => openTier(settings),
    isShared: store.isShared ?? false,
    ...(audit && { expire: auditedExpiry(audit) }),
    onWarning,
  });
  const mcp = await McpExecutor.create({ ...config.mcp, onWarning });
  const executors = new Executors({
    tools: config.tools,
    offerTools: config.offerTools,
    executors: config.executors,
    mcp,
    sandbox: sandboxExecutors(sandbox, files),
  });
  let stopWatchdog: (() => Promise<void>) | undefined;
  let stopExpiry = () => {};
  const close = async () => {
    stopExpiry();
    // One that fails must not keep the store open.
    await executors
      .close()
      .catch((error: unknown) => logger.error("An executor could not be closed.", {}, error));
    await stopWatchdog?.();
    await store.close();
    audit?.record({ action: "server.stopped" });
    await audit?.close();
  };
  try {
    // Before the first run: one of them may have crashed the last process.
    if (options.hasWatchdog)
      stopWatchdog = startWatchdog({ ...config.watchdog, notePath: crashNotePath(config.store) });
    const models = new ConfiguredModels(config, { onWarning });
    const observer = runObserver(logger, metrics, telemetry);
    const parts = { store, models, executors, observer, audit, telemetry };
    const responses = await Responses.start({ ...runSettings(config), ...parts });
    metrics.watchQueue(() => store.queue.count());
    return {
      store,
      models,
      executors,
      mcp,
      responses,
      files,
      sandbox,
      containers: new ContainersApi({ host: sandbox, files }),
      logger,
      metrics,
      telemetry,
      audit,
      startExecutors: () => {
        executors.start();
        stopExpiry = expireOld(store, config.keepDays, logger, audit);
      },
      drain: (graceMs) => responses.drain(graceMs),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The audit log of the config, if it has one. */
function auditOf({ audit: target, onAuditFailure }: ServerConfig, logger: Logger): AuditLog | undefined {
  if (target === undefined) return undefined;
  const onWarning = (message: string, error?: unknown) =>
    error === undefined ? logger.warn(message) : logger.error(message, {}, error);
  return openAudit({ target, version: packageVersion(), onFailure: onAuditFailure, onWarning });
}

/** The settings of runs. */
function runSettings(config: ServerConfig) {
  const { conversations, maxAgenticTurns, maxRepeats, onLimit, onPromptCut, limits, compat, runs } = config;
  return {
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
    traces: config.traces,
    runs,
    idempotencyMs: config.idempotencyMs,
    waitingRunsPerOwner: limits.waitingRunsPerOwner,
  };
}
