// What a tracer of OpenTelemetry is told, and what it can do.

import type { TracerProvider } from "@opentelemetry/api";
import type { Tracer } from "../trace/trace.ts";
import type { RunFacts } from "./attributes.ts";
import type { TraceContext } from "./trace-context.ts";

export interface OtelTracerOptions {
  /** Makes the spans. Default: the global one, which the set-up of an SDK registers. */
  readonly tracerProvider?: TracerProvider | undefined;
  /**
   * Whether spans have what was said: messages, arguments and results of tools, and the messages of errors, which may
   * quote them. Default: false.
   */
  readonly content?: boolean | undefined;
  /** Whether spans also have the names of OpenInference, for Arize Phoenix and others. Default: false. */
  readonly openInference?: boolean | undefined;
  /** What `gen_ai.provider.name` says. Default: `openai_compatible`. */
  readonly providerName?: string | undefined;
  /** The span that a run belongs to; null for none. Default: the current span where the run begins. */
  readonly parent?: TraceContext | null | undefined;
  /** Spans that a run has to do with, without belonging to them. Default: none. */
  readonly links?: readonly TraceContext[] | undefined;
  /** What is known about the run beforehand. Default: nothing. */
  readonly facts?: RunFacts | undefined;
}

/** A tracer that makes spans. Each run that it is given to gets a span of its own. */
export interface OtelTracer extends Tracer {
  /** The span of the run, for headers and links; undefined before the run begins, and if nothing records it. */
  readonly traceContext: TraceContext | undefined;
  forRun(): OtelTracer;
  /** Adds an event `rondo.NAME` to the span of the run, with attributes `rondo.KEY`. */
  note(name: string, atMs: number, attributes?: Readonly<Record<string, string | number | boolean>>): void;
  headers(of: { readonly answer: number } | { readonly turnId: string }): Readonly<Record<string, string>>;
  within<T>(turnId: string, work: () => T): T;
  withinAnswer<T>(answer: number, send: () => T): T;
}
