// Starts making spans, if the config asks for it.

import { ConfigError } from "../config/config-error.ts";
import type { ServerConfig } from "../config/schema.ts";
import { loadTelemetry, type Telemetry } from "../run/telemetry.ts";
import type { Logger } from "./log.ts";

/** Throws a `ConfigError` if it needs a package that is not installed. */
export async function startTelemetry(
  { otel, ...settings }: ServerConfig["telemetry"],
  logger: Logger,
): Promise<Telemetry | undefined> {
  if (!otel) return undefined;
  const telemetry = await loadTelemetry(settings).catch((cause: unknown) => {
    throw toConfigError(cause);
  });
  if (!telemetry.hasSdk)
    logger.warn(
      "telemetry.otel is on, but this process has no SDK of OpenTelemetry, so its spans go nowhere. Set one up in a file, and start with NODE_OPTIONS='--import ./otel.mjs' (docs/opentelemetry.md).",
    );
  return telemetry;
}

function toConfigError(cause: unknown): unknown {
  if ((cause as { code?: unknown } | undefined)?.code !== "ERR_MODULE_NOT_FOUND") return cause;
  const message =
    "needs the package @opentelemetry/api, which is not installed. Install it beside the server (npm install @opentelemetry/api), or set telemetry.otel to false.";
  return new ConfigError([{ key: "telemetry.otel", source: "not possible here", message }], { cause });
}
