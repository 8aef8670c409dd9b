// A server with a WebSocket client for a test, a request, and a tool that keeps its run going.

import { once } from "node:events";
import { tool } from "rondo";
import { onTestFinished } from "vitest";
import { SocketClient } from "./socket-client.ts";
import { type StartOptions, start, type TestServer } from "./start.ts";

export const ask = { model: "test", input: "Hi" };

/** Starts a server, and opens a connection to it, for the length of a test. */
export async function connect(options: StartOptions, headers: Record<string, string> = {}) {
  const server = await start(options);
  const client = await SocketClient.open(server.baseURL, { headers });
  onTestFinished(() => client.socket.terminate());
  return { server, client };
}

/** The status of a response, read over HTTP. */
export async function statusOf({ baseURL, fetch }: TestServer, id: string): Promise<unknown> {
  const answer = await fetch(`${baseURL}/responses/${id}`);
  return ((await answer.json()) as { status: unknown }).status;
}

/** A tool that waits until it is let go, or nobody waits for it any more. */
export function gatedTool() {
  const gate = Promise.withResolvers<unknown>();
  const wait = tool("wait", "Waits.", {}, (_input, { signal }) =>
    Promise.race([gate.promise, once(signal, "abort")]),
  );
  return { gate, wait };
}
