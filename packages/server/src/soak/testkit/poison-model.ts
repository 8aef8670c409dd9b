// A model server for runs that end their process: a user who says the name of a tool makes the model call it, whatever
// came of it before. Others get their answer with the second request, so that they are at work at the first crash.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { chatChunks, doneFrame, sseFrame } from "rondo/testing";

/** The tools, by what they do to the process. */
export const poisons = ["block", "exit", "throw", "abort"] as const;

export interface PoisonModel extends AsyncDisposable {
  /** With `/v1`. */
  readonly url: string;
  /** Resolves when a request with this prompt has come. */
  asked(prompt: string): Promise<void>;
}

export async function startPoisonModel(): Promise<PoisonModel> {
  const counts = new Map<string, number>();
  const arrivals = new Map<string, PromiseWithResolvers<void>>();
  const arrival = (prompt: string) => {
    const known = arrivals.get(prompt) ?? Promise.withResolvers<void>();
    arrivals.set(prompt, known);
    return known;
  };
  let callCount = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { messages } = (await json(request)) as { messages: { role: string; content: string }[] };
    const prompt = messages.findLast(({ role }) => role === "user")?.content ?? "";
    const count = (counts.get(prompt) ?? 0) + 1;
    counts.set(prompt, count);
    arrival(prompt).resolve();
    const isPoisoned = poisons.some((name) => name === prompt);
    if (!isPoisoned && count === 1) return; // the process dies before it has its answer
    // The other run has to be at work by then.
    if (isPoisoned) await arrival("innocent").promise;
    const calls = isPoisoned ? [{ id: `call_${++callCount}`, name: prompt, input: { n: callCount } }] : [];
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const chunk of chatChunks({ text: isPoisoned ? "" : "Done.", calls }))
      response.write(sseFrame(chunk));
    response.end(doneFrame);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked: (prompt) => arrival(prompt).promise,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
