// A model server that tells stories: it keeps nothing between requests, and reads from the conversation how far
// it has come. So it does not mind that its client is killed.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { chatChunks, doneFrame, sseFrame } from "rondo/testing";
import type { Gate } from "./gate.ts";
import { type Random, random } from "./random.ts";
import { answerOf, type Story } from "./story.ts";

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[];
  readonly tool_call_id?: string;
}

export interface StoryModel extends AsyncDisposable {
  /** With `/v1`. */
  readonly url: string;
  /** How many answers were asked for. */
  readonly askedCount: number;
  /** The conversation that the end of a story was asked with, by the story's name. Grows with the stories. */
  readonly lastConversation: Map<string, readonly ChatMessage[]>;
  /** The gate at which a story's last answer waits in its middle. Default: none. */
  gateOf: (story: Story) => Gate | undefined;
  /** Called when the next answer of a story is asked for. */
  onAsked: (story: Story) => void;
  /** Called when whoever asked left before the end of the answer. */
  onLeft: (story: Story) => void;
  /** Ends the connections that wait for another request. */
  closeIdle(): void;
}

/** Tells each story by the last message of the user, which is the story as JSON. */
export async function startStoryModel(): Promise<StoryModel> {
  const lastConversation = new Map<string, readonly ChatMessage[]>();
  let askedCount = 0;
  const server = createServer((request, response) => {
    // A client that is killed while it asks has asked for nothing.
    tell(request, response).catch(() => response.destroy());
  });

  async function tell(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") return list(request, response);
    const { messages } = (await json(request)) as { messages: readonly ChatMessage[] };
    askedCount++;
    const start = messages.findLastIndex(({ role }) => role === "user");
    const story = JSON.parse(messages[start]?.content ?? "") as Story;
    const step = messages.slice(start).filter(({ tool_calls }) => tool_calls?.length).length;
    model.onAsked(story);
    response.once("close", () => {
      if (!response.writableFinished) model.onLeft(story);
    });
    const isLast = step >= story.steps;
    if (isLast) lastConversation.set(story.name, messages.slice(start));
    response.writeHead(200, { "content-type": "text/event-stream" });
    // A new chance each time: a crash is to meet another moment when the answer is made again.
    const chance = random(story.seed, step, askedCount);
    const chunks = chatChunks({ ...answerOf(story, step), usage: tokens });
    for (const [index, chunk] of chunks.entries()) {
      if (isLast && index === chunks.length >> 1) await model.gateOf(story)?.pass();
      if (response.destroyed) return;
      response.write(sseFrame(chunk));
      await pause(chance, story.paceMs);
    }
    response.end(doneFrame);
  }

  server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 });
  await once(server, "listening");
  const model: StoryModel = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    lastConversation,
    gateOf: () => undefined,
    onAsked: () => {},
    onLeft: () => {},
    closeIdle: () => server.closeIdleConnections(),
    get askedCount() {
      return askedCount;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  return model;
}

/** The list of models, which a server reads when it starts. */
function list(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(request.url === "/v1/models" ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify({ object: "list", data: [{ id: "story", object: "model" }] }));
}

const tokens = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

/** Most pieces come together, some after a while. */
async function pause(chance: Random, paceMs: number): Promise<void> {
  if (paceMs > 0 && chance.integer(0, 2) === 0) await wait(chance.integer(0, paceMs));
}
