// Makes the spans of OpenTelemetry from the events of a run: one for the run, and in it one for each answer of the model
// and for each turn.

import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer as SpanTracer,
  trace,
} from "@opentelemetry/api";
import type { TraceError, TraceEvent } from "../trace/trace.ts";
import {
  defined,
  ofAnswer,
  ofCheck,
  ofQuestion,
  ofResult,
  ofRun,
  ofTurn,
  ofUsage,
  ofWarning,
  type SpanStyle,
  shorten,
} from "./attributes.ts";
import { cut } from "./content.ts";
import { defaultProvider, events, genAi, operations, own, ownPrefix, scopeName } from "./names.ts";
import type { OtelTracer, OtelTracerOptions } from "./options.ts";
import { currentTraceContext, parse, type TraceContext, toLink, toTraceContext } from "./trace-context.ts";

/** Makes spans of what happens, for `onTrace`. Needs the package `@opentelemetry/api` and, to go anywhere, an SDK. */
export function otelTracer(options: OtelTracerOptions = {}): OtelTracer {
  return new SpanMaker(options);
}

interface OpenChat {
  readonly span: Span;
  /** When its last request was sent. */
  sentAtMs: number | undefined;
}

interface OpenTurn {
  readonly span: Span;
  progress: number;
}

class SpanMaker implements OtelTracer {
  readonly #options: OtelTracerOptions;
  readonly #style: SpanStyle;
  readonly #tracer: SpanTracer;
  #run: { readonly span: Span; readonly inside: Context } | undefined;
  readonly #chats = new Map<number, OpenChat>();
  readonly #turns = new Map<string, OpenTurn>();

  constructor(options: OtelTracerOptions) {
    this.#options = options;
    this.#style = {
      content: options.content ?? false,
      openInference: options.openInference ?? false,
      providerName: options.providerName ?? defaultProvider,
    };
    this.#tracer = (options.tracerProvider ?? trace).getTracer(scopeName);
  }

  get traceContext(): TraceContext | undefined {
    return this.#run && toTraceContext(this.#run.span.spanContext());
  }

  forRun(): OtelTracer {
    return new SpanMaker(this.#options);
  }

  note(name: string, atMs: number, attributes: Readonly<Record<string, unknown>> = {}): void {
    const own = Object.entries(attributes).map(([key, value]) => [ownPrefix + key, value]);
    this.#note(this.#run?.span, ownPrefix + name, atMs, Object.fromEntries(own) as Attributes);
  }

  headers(of: { readonly answer: number } | { readonly turnId: string }): Readonly<Record<string, string>> {
    const open = "answer" in of ? this.#chats.get(of.answer) : this.#turns.get(of.turnId);
    const span = open?.span ?? this.#run?.span;
    return { ...(span ? toTraceContext(span.spanContext()) : currentTraceContext()) };
  }

  within<T>(turnId: string, work: () => T): T {
    return this.#inside(this.#turns.get(turnId), work);
  }

  withinAnswer<T>(answer: number, send: () => T): T {
    return this.#inside(this.#chats.get(answer), send);
  }

  record(event: TraceEvent): void {
    switch (event.type) {
      case "run.started":
        this.#startRun(event.name, event.atMs);
        break;
      case "run.finished":
        this.#run?.span.setAttributes({
          [own.runReason]: event.reason,
          ...ofUsage(event.usage, this.#style),
        });
        this.#endRun(event.atMs);
        break;
      case "run.failed":
        if (this.#run) this.#fail(this.#run.span, event.error);
        this.#endRun(event.atMs);
        break;
      case "turn.started":
      case "lock.awaited":
      case "lock.taken":
      case "turn.progress":
      case "turn.finished":
        this.#recordTurn(event);
        break;
      case "call.checked":
        // A call that did not become a turn is seen on the run.
        if (event.decision !== "run" || event.doubts?.length)
          this.#note(this.#run?.span, events.callChecked, event.atMs, ofCheck(event, this.#style));
        break;
      case "prompt.changed":
      case "prompt.cut":
      case "warning":
        this.#note(this.#run?.span, events.warning, event.atMs, ofWarning(event, this.#style));
        break;
      default:
        this.#recordAnswer(event);
    }
  }

  #recordAnswer(event: Extract<TraceEvent, { answer: number }>): void {
    const { atMs } = event;
    if (event.type === "model.asked") {
      this.#startChat(event);
      return;
    }
    const chat = this.#chats.get(event.answer);
    if (!chat) return;
    const { span } = chat;
    switch (event.type) {
      case "slot.awaited":
        this.#note(span, events.slotAwaited, atMs);
        break;
      case "slot.taken":
        this.#note(span, events.slotTaken, atMs);
        break;
      case "request.sent":
        chat.sentAtMs = atMs;
        if (event.isStream) span.setAttribute(genAi.isStream, true);
        this.#note(span, events.requestSent, atMs, {
          [own.attempt]: event.attempt,
          [own.requestBytes]: event.bytes,
        });
        break;
      case "request.retried":
        this.#note(span, events.requestRetried, atMs, {
          [own.attempt]: event.attempt,
          [own.waitMs]: event.waitMs,
          [genAi.errorType]: event.error.type,
        });
        break;
      case "model.accepted":
        this.#note(span, events.modelAccepted, atMs, { [genAi.httpStatus]: event.status });
        break;
      case "model.started":
        if (chat.sentAtMs !== undefined) span.setAttribute(genAi.firstChunk, (atMs - chat.sentAtMs) / 1000);
        this.#note(span, events.modelStarted, atMs);
        break;
      case "model.finished":
        span.setAttributes(defined(ofAnswer(event, this.#style)));
        this.#endChat(event.answer, atMs);
        break;
      case "model.failed":
        span.setAttribute(genAi.finishReasons, ["error"]);
        this.#fail(span, event.error);
        this.#endChat(event.answer, atMs);
        break;
      default: // chunks are not for spans
    }
  }

  #recordTurn(event: Extract<TraceEvent, { turnId: string }>): void {
    const { turnId, atMs } = event;
    if (event.type === "turn.started") {
      this.#startTurn(event);
      return;
    }
    const turn = this.#turns.get(turnId);
    if (!turn) return;
    switch (event.type) {
      case "lock.awaited":
        this.#note(turn.span, events.lockAwaited, atMs);
        break;
      case "lock.taken":
        this.#note(turn.span, events.lockTaken, atMs);
        break;
      case "turn.progress":
        turn.progress = event.count;
        break;
      default:
        turn.span.setAttributes(defined(ofResult(event, this.#style)));
        if (event.error) this.#fail(turn.span, event.error);
        this.#endTurn(turnId, atMs);
    }
  }

  #startRun(name: string | undefined, startTime: number): void {
    this.#endRun(startTime); // of a run that did not tell its end
    const { facts = {}, links = [] } = this.#options;
    const shown = name === undefined ? undefined : shorten(name);
    const parent = this.#parent();
    const span = this.#tracer.startSpan(
      shown === undefined ? operations.agent : `${operations.agent} ${shown}`,
      {
        kind: SpanKind.INTERNAL,
        startTime,
        attributes: defined(ofRun(shown, facts, this.#style)),
        links: links.flatMap(toLink),
      },
      parent,
    );
    this.#run = { span, inside: trace.setSpan(parent, span) };
  }

  #parent(): Context {
    const { parent } = this.#options;
    if (parent === undefined) return context.active();
    const found = parent === null ? undefined : parse(parent);
    return found ? trace.setSpanContext(ROOT_CONTEXT, found) : ROOT_CONTEXT;
  }

  #endRun(endTime: number): void {
    for (const answer of this.#chats.keys()) this.#endChat(answer, endTime);
    for (const turnId of this.#turns.keys()) this.#endTurn(turnId, endTime);
    this.#run?.span.end(endTime);
    this.#run = undefined;
  }

  #startChat(event: Extract<TraceEvent, { type: "model.asked" }>): void {
    this.#endChat(event.answer, event.atMs);
    const span = this.#start(
      `${operations.chat} ${shorten(event.model)}`,
      SpanKind.CLIENT,
      event.atMs,
      ofQuestion(event, this.#style),
    );
    this.#chats.set(event.answer, { span, sentAtMs: undefined });
  }

  #endChat(answer: number, endTime: number): void {
    this.#chats.get(answer)?.span.end(endTime);
    this.#chats.delete(answer);
  }

  #startTurn(event: Extract<TraceEvent, { type: "turn.started" }>): void {
    this.#endTurn(event.turnId, event.atMs);
    const span = this.#start(
      `${operations.tool} ${shorten(event.name)}`,
      SpanKind.INTERNAL,
      event.atMs,
      ofTurn(event, this.#style),
    );
    this.#turns.set(event.turnId, { span, progress: 0 });
  }

  #endTurn(turnId: string, endTime: number): void {
    const turn = this.#turns.get(turnId);
    if (turn && turn.progress > 0) turn.span.setAttribute(own.progress, turn.progress);
    turn?.span.end(endTime);
    this.#turns.delete(turnId);
  }

  #start(name: string, kind: SpanKind, startTime: number, attributes: Attributes): Span {
    const inside = this.#run?.inside ?? this.#parent();
    return this.#tracer.startSpan(name, { kind, startTime, attributes: defined(attributes) }, inside);
  }

  /** In the context in which the run began: a run that waited in a queue is called from anywhere. */
  #inside<T>(open: { readonly span: Span } | undefined, work: () => T): T {
    if (!open) return work();
    return context.with(trace.setSpan(this.#run?.inside ?? context.active(), open.span), work);
  }

  #fail(span: Span, { type, message }: TraceError): void {
    span.setAttribute(genAi.errorType, type);
    // A message may quote what was said.
    span.setStatus({ code: SpanStatusCode.ERROR, ...(this.#style.content && { message: cut(message) }) });
  }

  #note(span: Span | undefined, name: string, atMs: number, attributes: Attributes = {}): void {
    span?.addEvent(name, defined(attributes), atMs);
  }
}
