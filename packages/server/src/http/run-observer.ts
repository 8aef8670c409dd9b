// Reports what happens in runs to the log, the metrics and the spans.

import { ModelError, TimeoutError } from "rondo";
import { ApiError } from "../protocol/api-error.ts";
import type { RunObserver } from "../run/observer.ts";
import type { Telemetry } from "../run/telemetry.ts";
import type { LogFields, Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { TraceMetrics } from "./trace-metrics.ts";

export function runObserver(
  logger: Logger,
  metrics: Metrics,
  telemetry?: Pick<Telemetry, "noted">,
): RunObserver {
  const traced = new TraceMetrics(metrics);
  return {
    warn(message, { error, ...fields }) {
      if (error === undefined) logger.warn(message, toLogFields(fields));
      else logger.error(message, toLogFields(fields), error);
    },
    loopEvent(event, responseId) {
      if (event.type === "prompt.cut")
        logger.warn("A model server read only a part of the prompt.", { responseId, reason: event.message });
      else if (event.type === "prompt.changed")
        logger.warn("A prompt changed, so that the model server cannot use its cache.", {
          responseId,
          reason: event.message,
        });
      else if (event.type === "warning") logger.warn(event.message, event.code ? { code: event.code } : {});
    },
    traceEvent(event, responseId) {
      traced.record(event, responseId);
      telemetry?.noted(event, responseId);
    },
    runEnded({ id: responseId, status, model }, failure, owner) {
      traced.forget(responseId);
      metrics.runEnded(status);
      if (failure === undefined) return;
      const cause = failure instanceof ApiError ? (failure.cause ?? failure) : failure;
      const code = failure instanceof ApiError ? failure.code : null;
      // The reason is what the owner was told; the cause may name addresses and files.
      const fields = { owner, responseId, model, code, reason: failure.message };
      if (cause instanceof ModelError || cause instanceof TimeoutError) {
        metrics.modelFailed(cause.code);
        const isAllTold = cause.message === failure.message;
        logger.warn("A model failed.", { ...fields, ...(!isAllTold && { cause: cause.message }) });
      } else if (failure instanceof ApiError && failure.status < 500) {
        logger.info("A run failed.", fields);
      } else {
        logger.error("A run failed.", fields, cause);
      }
    },
  };
}

function toLogFields(fields: Readonly<Record<string, unknown>>): LogFields {
  const plain = Object.entries(fields).map(([name, value]) => {
    if (Array.isArray(value)) return [name, value.map(String).join("; ")];
    return [name, typeof value === "object" && value !== null ? JSON.stringify(value) : value];
  });
  return Object.fromEntries(plain) as LogFields;
}
