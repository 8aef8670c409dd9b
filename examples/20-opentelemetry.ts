// OpenTelemetry: the spans of a run, sent to a receiver, which shows them as a tree
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { query, tool } from "rondo";
import { otelTracer } from "rondo/otel";
import { scriptedModel } from "rondo/testing";

// Stands in for a receiver of OTLP such as Jaeger.
interface Span {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
}
const received: Span[] = [];
async function receive(request: IncomingMessage): Promise<void> {
  const body = (await json(request)) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  received.push(...body.resourceSpans.flatMap((it) => it.scopeSpans).flatMap((it) => it.spans));
}
const receiver = createServer((request, response) => {
  void receive(request).then(() => response.end("{}"));
}).listen(0, "127.0.0.1");
await new Promise((resolve) => receiver.once("listening", resolve));

// The SDK, as any program sets it up.
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/v1/traces`;
const provider = new TracerProvider({
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
});
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

// A tool with a span of its own, which is inside of its turn's.
const stock = tool("stock", "How many there are.", { item: String }, ({ item }) =>
  trace.getTracer("shop").startActiveSpan("SELECT stock", (span) => {
    span.end();
    return `12 of ${item}`;
  }),
);

// Stands in for a model.
const model = scriptedModel(
  [{ calls: [{ name: "stock", input: { item: "lamps" } }] }, "There are 12 lamps."],
  { name: "shop-model" },
);
const options = { model, tools: [stock], autoExecuteTools: true, onTrace: otelTracer() };
const { text } = await query({ prompt: "How many lamps are there?", options }).result();
console.log(text);

await provider.shutdown();
receiver.closeAllConnections();
receiver.close();

function show(parent: string | undefined, indent: string): void {
  const children = received.filter((span) => (span.parentSpanId || undefined) === parent);
  for (const { name, spanId } of children.toSorted((a, b) =>
    a.startTimeUnixNano < b.startTimeUnixNano ? -1 : 1,
  )) {
    console.log(indent + name);
    show(spanId, `${indent}  `);
  }
}
show(undefined, "");
// → There are 12 lamps.
// → invoke_agent
// →   chat shop-model
// →   execute_tool stock
// →     SELECT stock
// →   chat shop-model
