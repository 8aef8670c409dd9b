// A small OTLP/HTTP receiver on loopback, and the real SDK that exports to it.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";

/** A span as it came, with plain values. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly startNano: bigint;
  readonly endNano: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly {
    readonly name: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 0 unset, 1 ok, 2 error. */
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface OtlpReceiver extends AsyncDisposable {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  /** All bodies that came. */
  readonly bodies: readonly string[];
  /** The spans that came so far. */
  readonly spans: readonly ReceivedSpan[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const take = async () => {
      bodies.push(await text(request));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    };
    void take();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    get spans() {
      return bodies.flatMap(readSpans);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The SDK of a process: global, as a user's set-up makes it, until it is disposed of. */
export interface OtelSdk extends AsyncDisposable {
  readonly receiver: OtlpReceiver;
  readonly provider: TracerProvider;
  /** How many spans were started and are not ended. */
  readonly openSpans: number;
  /** All spans that ended, as the receiver has them. */
  exported(): Promise<readonly ReceivedSpan[]>;
}

export async function startOtelSdk(): Promise<OtelSdk> {
  const receiver = await startOtlpReceiver();
  let openSpans = 0;
  const exporter = new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` });
  const counter = {
    onStart: () => {
      openSpans += 1;
    },
    onEnd: () => {
      openSpans -= 1;
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const provider = new TracerProvider({ spanProcessors: [counter, new BatchSpanProcessor({ exporter })] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return {
    receiver,
    provider,
    get openSpans() {
      return openSpans;
    },
    async exported() {
      await provider.forceFlush();
      return receiver.spans;
    },
    async [Symbol.asyncDispose]() {
      trace.disable();
      context.disable();
      await provider.shutdown();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

interface Value {
  readonly arrayValue?: { readonly values?: readonly Value[] };
  readonly [kind: string]: unknown;
}

interface Fields {
  readonly attributes?: readonly { readonly key: string; readonly value: Value }[];
}

interface RawSpan extends Fields, Pick<ReceivedSpan, "traceId" | "spanId" | "name" | "kind" | "status"> {
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly events?: readonly (Fields & { readonly name: string })[];
  readonly links?: ReceivedSpan["links"];
}

function readSpans(body: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body) as {
    resourceSpans: { scopeSpans: { spans: RawSpan[] }[] }[];
  };
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map(({ startTimeUnixNano, endTimeUnixNano, parentSpanId, events = [], links = [], ...span }) => ({
      ...span,
      parentSpanId: parentSpanId || undefined,
      startNano: BigInt(startTimeUnixNano),
      endNano: BigInt(endTimeUnixNano),
      attributes: toPlain(span),
      events: events.map((event) => ({ name: event.name, attributes: toPlain(event) })),
      links: links.map(({ traceId, spanId }) => ({ traceId, spanId })),
    }));
}

function toPlain({ attributes = [] }: Fields): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue({ arrayValue, ...value }: Value): unknown {
  if (arrayValue) return (arrayValue.values ?? []).map(plainValue);
  return Object.values(value)[0];
}
