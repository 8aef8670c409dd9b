// Runs one case against a real server on loopback, with Rondo or with another client.

import { startModelServer } from "rondo/testing";
import { type Outcome, problems } from "./outcome.ts";
import type { QuirkCase } from "./quirk-case.ts";

/** A client that answers a prompt with the tools `add` and `ping`, and runs them by itself. */
export type CaseRunner = (quirk: QuirkCase, baseURL: string) => Promise<Outcome>;

/** What the server says once the answers of the case are used up. */
export const lastWords = "Done.";

/** What is wrong; nothing if the case passes. */
export async function runCase(quirk: QuirkCase, runner: CaseRunner): Promise<string[]> {
  let served = 0;
  await using server = await startModelServer(() => quirk.answers[served++] ?? { text: lastWords });
  const url = server.url;
  if (quirk.isUnreachable) await server[Symbol.asyncDispose]();
  const outcome = await runner(quirk, url);
  const found = problems(outcome, quirk.expect, server.requests.at(-1)?.body?.messages);
  const wasLeft = quirk.leave !== undefined || quirk.timeoutMs !== undefined;
  if (wasLeft) {
    await server.requests[0]?.closed;
    if (server.requests[0]?.wasLeft !== true) found.push("the socket stayed open");
  }
  return found;
}
