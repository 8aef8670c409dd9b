// Events of a trace as lines of JSON, in the format of the API. A plain request has a dozen of them, so they are joined
// by hand: only text from outside goes through `JSON.stringify`.

import type { TraceError, Usage } from "rondo";
import { hideAddress } from "../protocol/addresses.ts";
import type { RunTraceEvent } from "./trace-event.ts";

export interface LineOptions {
  /** Milliseconds since the start of the trace. */
  readonly at: number;
  /** What is added to the number of an answer. */
  readonly answerOffset: number;
  /** Whether also what was said is written: requests, chunks, what goes into tools and comes out. */
  readonly isFull: boolean;
  /** The address of the model server, if the owner of the run must not see it. */
  readonly hidden?: string | undefined;
}

const maxTextLength = 2000;
/** The longest body, chunk, input or output; a longer one is left out, and its length told. */
const maxContentLength = 1_000_000;
const maxTimingsLength = 4000;
const maxDoubts = 20;

export function toTraceLine(event: RunTraceEvent, options: LineOptions): string {
  return `{"at":${milliseconds(options.at)},"type":"${event.type}"${fieldsOf(event, options)}}`;
}

function fieldsOf(event: RunTraceEvent, { answerOffset: offset, isFull, hidden }: LineOptions): string {
  const answer = "answer" in event ? `,"answer":${event.answer + offset}` : "";
  switch (event.type) {
    case "run.started":
      return text("name", event.name);
    case "run.finished":
      return text("reason", event.reason) + usage(event.usage);
    case "run.failed":
    case "model.away":
    case "model.failed":
      return answer + error(publicError(event.error, hidden));
    case "run.claimed":
      return `${text("worker", event.worker)},"attempt":${event.attempt},"level":"${event.level}"`;
    case "model.asked":
      return `${answer}${text("model", event.model)}${address("endpoint", event.endpoint, hidden)},"messages":${event.messages},"tools":${event.tools}${number("context_window", event.contextWindow)}`;
    case "request.sent": {
      const { attempt, url, bytes, isStream = false } = event;
      return `${answer},"attempt":${attempt}${address("url", url, hidden)},"bytes":${bytes},"is_stream":${isStream}${isFull ? content("body", event.body) : ""}`;
    }
    case "request.retried":
      return `${answer},"attempt":${event.attempt},"wait_ms":${milliseconds(event.waitMs)}${error(publicError(event.error, hidden))}`;
    case "model.accepted":
      return `${answer},"status":${event.status}`;
    case "model.chunk":
      return answer + (isFull ? content("text", () => event.text) : "");
    case "model.finished":
      return `${answer},"finish_reason":"${event.finishReason}"${usage(event.usage)}${timings(event.timings)}`;
    case "call.checked":
      return `${answer}${text("call_id", event.callId)}${text("name", event.name)},"decision":"${event.decision}"${text("reason", event.reason)}${text("error", event.error)}${doubts(event.doubts)}`;
    case "turn.started":
      return `${text("turn_id", event.turnId)}${text("name", event.name)}${text("call_id", event.callId)},"attempt":${event.attempt}${isFull ? content("input", event.input) : ""}`;
    case "lock.awaited":
    case "lock.taken":
      return text("turn_id", event.turnId);
    case "turn.progress":
      return `${text("turn_id", event.turnId)},"count":${event.count}`;
    case "turn.finished":
      return `${text("turn_id", event.turnId)}${text("stop_reason", event.stopReason)}${error(event.error && withoutAddress(event.error, hidden))}${isFull && event.output ? content("output", event.output) : ""}`;
    case "prompt.changed":
      return `,"part":"${event.part}","index":${event.index}${text("message", event.message)}`;
    case "prompt.cut":
      return `,"reported_tokens":${event.reportedTokens},"expected_tokens":${event.expectedTokens}${text("message", event.message)}`;
    case "warning":
      return text("message", without(hidden, event.message)) + text("code", event.code);
    case "approval.asked":
      return text("call_id", event.callId) + text("name", event.name);
    case "approval.decided":
      return `${text("call_id", event.callId)},"approved":${event.approved}`;
    case "store.committed":
      return `,"ms":${milliseconds(event.ms)},"is_durable":${event.isDurable}`;
    default:
      return answer;
  }
}

/** Milliseconds with thousandths. Numbers with fractions take V8 ten times as long as two whole ones. */
function milliseconds(ms: number): string {
  const thousandths = Math.round(ms * 1000);
  const whole = Math.trunc(thousandths / 1000);
  const rest = thousandths - whole * 1000;
  if (rest === 0) return `${whole}`;
  if (rest < 10) return `${whole}.00${rest}`;
  return rest < 100 ? `${whole}.0${rest}` : `${whole}.${rest}`;
}

function text(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":${JSON.stringify(shortened(value))}`;
}

function shortened(value: string): string {
  return value.length > maxTextLength ? `${value.slice(0, maxTextLength)}…` : value;
}

function number(name: string, value: number | undefined): string {
  return value === undefined ? "" : `,"${name}":${value}`;
}

function usage(given: Usage | undefined): string {
  if (!given) return "";
  const { inputTokens, outputTokens, totalTokens, cachedTokens, reasoningTokens, cutTokens } = given;
  const more = `${number("cached_tokens", cachedTokens)}${number("reasoning_tokens", reasoningTokens)}${number("cut_tokens", cutTokens)}`;
  return `,"usage":{"input_tokens":${inputTokens},"output_tokens":${outputTokens},"total_tokens":${totalTokens}${more}${given.estimated ? ',"estimated":true' : ""}}`;
}

function error(given: TraceError | undefined): string {
  return given ? `,"error":{"type":${JSON.stringify(given.type)}${text("message", given.message)}}` : "";
}

/** Clients see what a response would show: a model server's word about a key, or files of this server, are not for them. */
function publicError({ type, message }: TraceError, hidden: string | undefined): TraceError {
  const isPublic =
    /^(?:model_|context_length|prompt_cut|(?:RunStopped|ClientLeft|ServerStopping)$)/.test(type) &&
    type !== "model_auth";
  return { type, message: isPublic ? without(hidden, message) : "The server's log says more." };
}

function doubts(given: readonly string[] | undefined): string {
  return given ? `,"doubts":${JSON.stringify(given.slice(0, maxDoubts).map(shortened))}` : "";
}

function timings(given: object | undefined): string {
  if (!given) return "";
  const json = toJson(given);
  return json === undefined || json.length > maxTimingsLength ? "" : `,"timings":${json}`;
}

/** What was said, as it was; of something too long only that it was. */
function content(name: string, make: () => unknown): string {
  const json = toJson(make());
  if (json === undefined) return "";
  return json.length > maxContentLength ? `,"${name}_length":${json.length}` : `,"${name}":${json}`;
}

/** Undefined for what is not JSON, such as a circular object. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function withoutAddress({ type, message }: TraceError, hidden: string | undefined): TraceError {
  return { type, message: without(hidden, message) };
}

function without(hidden: string | undefined, message: string): string {
  return hidden === undefined ? message : hideAddress(message, hidden);
}

function address(name: string, url: string, hidden: string | undefined): string {
  return hidden === undefined ? text(name, withoutSecrets(url)) : "";
}

/** A URL without user, password and parameters: a key may be in them. */
function withoutSecrets(url: string): string {
  return /[@?#]/.test(url) ? url.replace(/[?#].*$/s, "").replace(/^([\w+.-]+:\/\/)[^/]*@/, "$1") : url;
}
