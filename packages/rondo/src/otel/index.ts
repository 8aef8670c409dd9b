// The entry `rondo/otel`. Only it needs the package @opentelemetry/api.

export type { RunFacts } from "./attributes.ts";
export type { OtelTracer, OtelTracerOptions } from "./options.ts";
export { otelTracer } from "./otel-tracer.ts";
export { currentTraceContext, hasSdk, readTraceContext, type TraceContext } from "./trace-context.ts";
