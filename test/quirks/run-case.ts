// Runs one case against a real server on loopback, with Rondo or with another client.

import { setTimeout as sleep } from "node:timers/promises";
import { type ServerAnswer, startModelServer } from "rondo/testing";
import { type Outcome, problems } from "./outcome.ts";
import { chunk, type QuirkCase } from "./quirk-case.ts";

/** Sends a prompt through a client that runs the tools `add` and `ping` automatically. */
export type CaseRunner = (quirk: QuirkCase, baseURL: string) => Promise<Outcome>;

/** The server's answer after those of the case. */
const lastWords = "Done.";

/** The first chunk of all servers: a case is odd only in what its name says. */
function withRole(answer: ServerAnswer | undefined): ServerAnswer | undefined {
  if (!answer?.chunks) return answer;
  return { ...answer, chunks: [chunk({ role: "assistant", content: "" }), ...answer.chunks] };
}

/** The problems; empty if the case passes. */
export async function runCase(quirk: QuirkCase, runner: CaseRunner): Promise<string[]> {
  let served = 0;
  await using server = await startModelServer(() => withRole(quirk.answers[served++]) ?? { text: lastWords });
  const url = server.url;
  if (quirk.isUnreachable) await server[Symbol.asyncDispose]();
  const outcome = await runner(quirk, url);
  const found = problems(outcome, quirk.expect, server.requests.at(-1)?.body?.messages);
  const wasLeft = quirk.leave !== undefined || quirk.timeoutMs !== undefined;
  if (wasLeft) {
    await Promise.race([server.requests[0]?.closed, sleep(1_000, undefined, { ref: false })]);
    if (server.requests[0]?.wasLeft !== true) found.push("the socket stayed open");
  }
  return found;
}

/** The text that the user saw. */
export function withoutLastWords(text: string): string {
  return text.endsWith(lastWords) ? text.slice(0, -lastWords.length) : text;
}
