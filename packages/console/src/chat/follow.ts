// Receives the events of a response until it is over, also when the connection breaks in between.

import { effect } from "@preact/signals";
import { ApiError, get, stream } from "../api/api.ts";
import { isConnected } from "../api/connection.ts";
import { isDecidedBefore } from "../api/decision-key.ts";
import type { Item, ResponseObject } from "../api/response.ts";
import { holdUnsent } from "../api/unsent.ts";
import type { Answer } from "./answer.ts";
import { textOf } from "./item-text.ts";

const pollMs = 1_500;
const decidedBefore = "This was decided before, in another tab or on the page of the run. Nothing ran again.";

/** A new request. It can be sent again after a broken connection: its key makes it the same one. */
export async function create(
  body: Record<string, unknown>,
  answer: Answer,
  signal: AbortSignal,
  onCreated: (response: ResponseObject) => void,
  key: string = randomKey(),
): Promise<void> {
  const isStored = body["store"] === true;
  const headers = isStored ? { "idempotency-key": key } : {};
  for (;;) {
    try {
      for await (const event of stream("POST", "v1/responses", body, { signal, headers })) {
        const isFirst = answer.response.peek() === undefined;
        answer.apply(event);
        const response = answer.response.peek();
        if (isFirst && response) onCreated(response);
      }
    } catch (error) {
      if (isRefusedKey(error) && answer.response.peek() === undefined) holdUnsent(messageIn(body));
      if (isDecidedBefore(error)) throw new ApiError(decidedBefore, 422, "decided_before");
      if (!isStored || !isLostConnection(error)) throw error;
      await connected(signal);
      if (answer.response.peek() === undefined) continue;
    }
    const id = answer.response.peek()?.id;
    if (isStored && id !== undefined && !answer.isOver.peek()) return follow(id, answer, signal);
    if (!answer.isOver.peek())
      answer.fail({ code: "interrupted", message: "The answer broke off. Send the message again." });
    return;
  }
}

/** A response that runs already, from the last event that `answer` has. */
export async function follow(id: string, answer: Answer, signal: AbortSignal): Promise<void> {
  while (!answer.isOver.peek()) {
    const after = answer.sequence < 0 ? "" : `&starting_after=${answer.sequence}`;
    try {
      const path = `v1/responses/${encodeURIComponent(id)}?stream=true${after}`;
      for await (const event of stream("GET", path, undefined, { signal })) answer.apply(event);
    } catch (error) {
      if (isLostConnection(error)) await connected(signal);
      // Its events are not kept: another client runs it.
      else if (error instanceof ApiError && error.status === 400) return poll(id, answer, signal);
      else throw error;
    }
  }
}

async function poll(id: string, answer: Answer, signal: AbortSignal): Promise<void> {
  while (true) {
    answer.show(await get<ResponseObject>(`v1/responses/${encodeURIComponent(id)}`, { signal }));
    if (answer.isOver.peek()) return;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    signal.throwIfAborted();
  }
}

function isLostConnection(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0;
}

function isRefusedKey(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** What the person wrote, of a request. */
function messageIn(body: Record<string, unknown>): string {
  const last = (body["input"] as readonly Item[]).at(-1);
  return last?.role === "user" ? textOf(last) : "";
}

async function connected(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = effect(() => {
      if (isConnected.value) resolve();
    });
    signal.addEventListener("abort", () => {
      stop();
      reject(signal.reason as Error);
    });
  });
}

/** Not `randomUUID()`: browsers have it only on pages with TLS or on this machine. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
