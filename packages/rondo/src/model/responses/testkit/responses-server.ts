// A Responses server on loopback that answers as the test says.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** Events of one answer; text is sent as it is; a function answers by itself. */
export type Answer = readonly object[] | string | ((response: ServerResponse) => void);

export interface AskedRequest {
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Record<string, unknown>;
  /** Resolves when its connection was closed. */
  readonly closed: Promise<void>;
}

/** Gives one answer after the other. */
export async function startResponsesServer(answers: readonly Answer[]) {
  const requests: AskedRequest[] = [];
  const server = createServer((request, response) => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    response.once("close", resolve);
    const reply = (body: unknown) => {
      const answer = answers[requests.length];
      requests.push({
        path: request.url,
        headers: request.headers,
        body: body as Record<string, unknown>,
        closed,
      });
      if (typeof answer === "function") answer(response);
      else response.writeHead(answer === undefined ? 500 : 200).end(answer && framed(answer));
    };
    json(request).then(reply, () => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

/** Events as they stand on the wire. */
export function framed(answer: readonly object[] | string): string {
  if (typeof answer === "string") return answer;
  return answer
    .map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}

/** The events of a message. */
export function message(text: readonly string[], index = 0, id = `msg_${index}`): object[] {
  const at = { item_id: id, output_index: index, content_index: 0 };
  const item = { type: "message", id, role: "assistant" };
  const part = { type: "output_text", text: text.join(""), annotations: [] };
  return [
    { type: "response.output_item.added", output_index: index, item: { ...item, content: [] } },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    ...text.map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
    { type: "response.output_text.done", ...at, text: part.text },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index: index, item: { ...item, content: [part] } },
  ];
}

/** The events of a call of a function of the client's. */
export function call(name: string, pieces: readonly string[], index = 0): object[] {
  const at = { item_id: `fc_${index}`, output_index: index };
  const item = { type: "function_call", id: at.item_id, call_id: `call_${index}`, name };
  const text = pieces.join("");
  return [
    { type: "response.output_item.added", output_index: index, item: { ...item, arguments: "" } },
    ...pieces.map((delta) => ({ type: "response.function_call_arguments.delta", ...at, delta })),
    { type: "response.function_call_arguments.done", ...at, arguments: text },
    { type: "response.output_item.done", output_index: index, item: { ...item, arguments: text } },
  ];
}

/** A whole stream. */
export function stream(
  events: readonly object[],
  response: object = {},
  type = "response.completed",
): object[] {
  const head = {
    id: "resp_1",
    object: "response",
    status: "in_progress",
    model: "m",
    output: [],
    error: null,
  };
  const usage = { input_tokens: 5, output_tokens: 7, total_tokens: 12 };
  return [
    { type: "response.created", response: head },
    { type: "response.in_progress", response: head },
    ...events,
    { type, response: { ...head, status: "completed", usage, ...response } },
  ];
}
