// Makes the spans of runs for OpenTelemetry, if the config asks for it: one for each start of a run, from its claim to its
// end, and in it those of its answers and turns.

import type { Tracer } from "rondo";
import type { OtelTracer } from "rondo/otel";
import type { RunEnd } from "../engine/run-response.ts";
import type { RunTraceEvent } from "../engine/trace-event.ts";
import type { RequestTrace } from "../protocol/stored-request.ts";

/** What a run's span says. Not its owner: names of people stay here. */
export interface TracedRun {
  readonly id: string;
  readonly model: string;
  readonly request: { readonly conversation?: unknown; readonly previous_response_id?: unknown };
  /** The span that the run belongs to. */
  readonly parent?: RequestTrace | undefined;
  /** Spans that it has to do with: of a request that is over, and of earlier starts of the run. */
  readonly links?: readonly RequestTrace[];
  /** How many times it was started, with this one. */
  readonly attempt?: number;
}

export interface RunSpan {
  /** For the loop. */
  readonly tracer: Tracer;
  /** The span itself, for a later start of the run. */
  readonly context: RequestTrace | undefined;
  /** Ends it. Without an end of the run, another process may continue it. */
  end(end?: RunEnd): void;
}

export interface TraceHeaders {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

export interface Telemetry {
  /** The span that a request belongs to: of the HTTP server, if that is instrumented, or of the client. */
  callerOf(headers: TraceHeaders): RequestTrace | undefined;
  begin(run: TracedRun): RunSpan;
  /** For what a request does without a run: its spans belong to that of the request. */
  requestTracer(headers: TraceHeaders): Tracer;
  /** Adds what the server notes about a run to its span. */
  noted(event: RunTraceEvent, responseId: string): void;
}

export interface TelemetrySettings {
  readonly content: boolean;
  readonly openInference: boolean;
}

/** The name of the agent that a run's span invokes. */
const agentName = "rondo";

/** Throws if the package `@opentelemetry/api` is not installed. */
export async function loadTelemetry(settings: TelemetrySettings): Promise<Telemetry & { hasSdk: boolean }> {
  const otel = await import("rondo/otel");
  /** The runs that work here. */
  const open = new Map<string, OtelTracer>();
  const callerOf: Telemetry["callerOf"] = (headers) =>
    otel.currentTraceContext() ?? otel.readTraceContext(headers);
  return {
    hasSdk: otel.hasSdk(),
    callerOf,
    requestTracer: (headers) => otel.otelTracer({ ...settings, parent: callerOf(headers) ?? null }),
    begin({ id, model, request, parent, links, attempt }) {
      const tracer = otel.otelTracer({
        ...settings,
        parent: parent ?? null,
        links,
        facts: {
          model,
          responseId: id,
          conversationId: textOf(request.conversation),
          previousResponseId: textOf(request.previous_response_id),
          attempt,
        },
      });
      tracer.record({ type: "run.started", name: agentName, atMs: Date.now() });
      open.set(id, tracer);
      return runSpan(tracer, () => open.delete(id));
    },
    noted(event, responseId) {
      const tracer = open.get(responseId);
      if (tracer) note(event, tracer);
    },
  };
}

/** What the loop records reaches the tracer by itself. */
function note(event: RunTraceEvent, tracer: OtelTracer): void {
  const { type, atMs } = event;
  switch (type) {
    case "approval.asked":
      tracer.note(type, atMs, { call_id: event.callId, tool: event.name });
      break;
    case "approval.decided":
      tracer.note(type, atMs, { call_id: event.callId, approved: event.approved });
      break;
    case "model.away":
      tracer.note(type, atMs, { error: event.error.type });
      break;
    case "model.back":
      tracer.note(type, atMs);
      break;
    default:
  }
}

function runSpan(tracer: OtelTracer, onEnd: () => void): RunSpan {
  let lastMs = 0;
  return {
    context: tracer.traceContext,
    tracer: {
      // A run may take several loops: after a wait for its model server, for example.
      record(event) {
        lastMs = event.atMs;
        if (!event.type.startsWith("run.")) tracer.record(event);
      },
      headers: (of) => tracer.headers(of),
      within: (turnId, work) => tracer.within(turnId, work),
      withinAnswer: (answer, send) => tracer.withinAnswer(answer, send),
    },
    end(end) {
      onEnd();
      const atMs = Math.max(Date.now(), lastMs); // events have fractions of a millisecond
      if (end?.failure) {
        const { code, message } = end.failure;
        tracer.record({ type: "run.failed", atMs, error: { type: code ?? "server_error", message } });
        return;
      }
      const { status, incomplete_details: details, usage } = end?.response ?? {};
      tracer.record({
        type: "run.finished",
        atMs,
        reason: details?.reason ?? status ?? "interrupted",
        ...(usage && {
          usage: {
            inputTokens: usage.input_tokens,
            outputTokens: usage.output_tokens,
            totalTokens: usage.total_tokens,
            cachedTokens: usage.input_tokens_details.cached_tokens,
            reasoningTokens: usage.output_tokens_details.reasoning_tokens,
          },
        }),
      });
    },
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
