// A `fetch` that also puts the trace context of a call, which is in its message, into the headers: for what stands
// between client and server, and reads no messages.

import type { FetchFunction } from "../model/http/send-by.ts";

const names = ["traceparent", "tracestate"] as const;

/** Never replaces a header. */
export function tracedFetch(fetch: FetchFunction): FetchFunction {
  return (input, init) => {
    const found = traceOf(init?.body);
    if (!found) return fetch(input, init);
    const headers = new Headers(init?.headers);
    for (const name of names) {
      const value = found[name];
      if (typeof value === "string" && !headers.has(name)) headers.set(name, value);
    }
    return fetch(input, { ...init, headers });
  };
}

function traceOf(body: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof body !== "string" || !body.includes('"traceparent"')) return undefined;
  const { params } = JSON.parse(body) as { params?: { _meta?: Readonly<Record<string, unknown>> } };
  return params?.["_meta"];
}
