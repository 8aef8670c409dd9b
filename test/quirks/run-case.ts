// Runs one case against a real server on loopback, with Rondo or with another client.

import { setTimeout as sleep } from "node:timers/promises";
import { type ServerAnswer, startModelServer } from "rondo/testing";
import { type Outcome, problems } from "./outcome.ts";
import { chunk, type QuirkCase } from "./quirk-case.ts";

/** A client that answers a prompt with the tools `add` and `ping`, and runs them by itself. */
export type CaseRunner = (quirk: QuirkCase, baseURL: string) => Promise<Outcome>;

/** What the server says once the answers of the case are used up. */
const lastWords = "Done.";

/** The chunk that all servers begin with: what is odd in a case is only what its name says. */
function withRole(answer: ServerAnswer | undefined): ServerAnswer | undefined {
  if (!answer?.chunks) return answer;
  return { ...answer, chunks: [chunk({ role: "assistant", content: "" }), ...answer.chunks] };
}

/** What is wrong; nothing if the case passes. */
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

/** What the user saw of the answers to the case. */
export function withoutLastWords(text: string): string {
  return text.endsWith(lastWords) ? text.slice(0, -lastWords.length) : text;
}
