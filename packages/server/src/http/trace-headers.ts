// The headers by which a client's request belongs to a trace, as they came.

import type { IncomingMessage } from "node:http";
import type { TraceHeaders } from "../run/telemetry.ts";

export function traceHeadersOf({ headers }: Pick<IncomingMessage, "headers">): TraceHeaders {
  const { traceparent, tracestate } = headers;
  // Node joins repeated ones with commas, which no `traceparent` has.
  return { traceparent: textOf(traceparent), tracestate: textOf(tracestate) };
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
