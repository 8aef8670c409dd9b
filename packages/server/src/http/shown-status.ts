// Which status a client sees of a response that waits for it. OpenAI's SDKs do not know `requires_action`: their helpers
// parse the arguments of calls only in a response that is `completed`.

import type { IncomingHttpHeaders } from "node:http";
import { type EventSink, ForwardingSink } from "../engine/event-sink.ts";
import type { ResponseObject } from "../protocol/response.ts";

/** `auto`: for all clients but those built on OpenAI's SDKs. */
export type RequiresActionStatus = "auto" | boolean;

/** Shows responses to one client. */
export interface ClientView {
  readonly response: (response: ResponseObject) => ResponseObject;
  readonly sink: (sink: EventSink) => EventSink;
}

/** As it is stored. */
const unchanged: ClientView = { response: (response) => response, sink: (sink) => sink };

const completed: ClientView = {
  response: (response) =>
    response.status === "requires_action" ? { ...response, status: "completed" } : response,
  sink: (sink) =>
    new ForwardingSink(
      (type, json) => sink.send(type, type === "response.completed" ? withCompleted(json) : json),
      sink,
    ),
};

export function viewFor(headers: IncomingHttpHeaders, setting: RequiresActionStatus): ClientView {
  const isShown = setting === "auto" ? !isOpenAISdk(headers) : setting;
  return isShown ? unchanged : completed;
}

// `OpenAI/JS 6.0.0`, `AsyncOpenAI/Python 2.1.0`, `OpenAI/2.1.0 (.NET 9)`, `Agents/JavaScript 0.3.0`.
const sdkName = /(?:^|\s)(?:\w*OpenAI(?:::\w+)?|Agents)\/(?:[A-Za-z]+|\d[\w.-]*)/;

/** Over WebSocket, these SDKs send only their `User-Agent`. */
function isOpenAISdk(headers: IncomingHttpHeaders): boolean {
  if (headers["x-stainless-lang"] !== undefined) return true;
  if (Object.keys(headers).some((name) => name.startsWith("x-stainless-"))) return true;
  return sdkName.test((headers["user-agent"] ?? "").slice(0, 512));
}

function withCompleted(json: string): string {
  if (!json.includes('"requires_action"')) return json;
  const event = JSON.parse(json) as { response: ResponseObject };
  return JSON.stringify({ ...event, response: completed.response(event.response) });
}
