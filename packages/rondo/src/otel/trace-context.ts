// W3C trace context (https://www.w3.org/TR/trace-context/): which trace and span a request belongs to, as headers. Here
// rather than with the propagator of the SDK: it works without one, and sends no baggage to model servers.

import {
  context,
  createTraceState,
  isSpanContextValid,
  type Link,
  ProxyTracerProvider,
  type SpanContext,
  trace,
} from "@opentelemetry/api";
import { scopeName } from "./names.ts";

/** The headers `traceparent` and `tracestate`. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** What `tracestate` may have at most; longer ones are left out. */
const maxStateLength = 512;
const traceparentLength = 55;
/** A later version may add fields after these. */
const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The trace context of headers from anywhere; undefined if there is none, or it is invalid. */
export function readTraceContext(headers: {
  readonly traceparent?: string | null | undefined;
  readonly tracestate?: string | null | undefined;
}): TraceContext | undefined {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== "string" || !parse({ traceparent })) return undefined;
  if (typeof tracestate !== "string" || tracestate.length > maxStateLength) return { traceparent };
  const state = createTraceState(tracestate).serialize(); // only its valid members
  return state === "" ? { traceparent } : { traceparent, tracestate: state };
}

/** The span of headers, as a parent or link of others. */
export function parse({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  // Later versions may be longer, but not without end.
  const match = traceparent.length > 2 * traceparentLength ? null : form.exec(traceparent);
  if (!match) return undefined;
  const [, version, traceId, spanId, flags, rest] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string?,
  ];
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  const found: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(found) ? found : undefined;
}

/** The headers for a span; undefined for one that nothing records and no caller had. */
export function toTraceContext(span: SpanContext): TraceContext | undefined {
  if (!isSpanContextValid(span)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = span;
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
  const tracestate = traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

/** A link to the span of headers; none if they are invalid. */
export function toLink(to: TraceContext): Link[] {
  const found = parse(to);
  return found ? [{ context: found }] : [];
}

/** The headers for the current span; undefined if there is none. */
export function currentTraceContext(): TraceContext | undefined {
  const span = trace.getSpanContext(context.active());
  return span && toTraceContext(span);
}

/** Whether an SDK is set up in this process. Without one, spans go nowhere. */
export function hasSdk(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(scopeName) !== undefined;
}
