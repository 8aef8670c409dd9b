// Rondo, used as in a user's program.

import { Client, RondoError, tool, type Usage } from "rondo";
import type { Outcome } from "./outcome.ts";
import type { QuirkCase } from "./quirk-case.ts";
import { type CaseRunner, withoutLastWords } from "./run-case.ts";

export const runWithRondo: CaseRunner = async (quirk, baseURL) => {
  const seen = { text: "", thinking: "" };
  const ran: [string, unknown][] = [];
  const client = makeClient(quirk, baseURL, ran);
  let error: Outcome["error"];
  try {
    await client.query("What is 1 + 2?");
    for await (const block of client.receiveMessages()) {
      if (block.type === "thinking") seen.thinking += block.thinking;
      if (block.type !== "text") continue;
      seen.text += block.text;
      if (quirk.leave === "break") break;
      if (quirk.leave === "interrupt") await client.interrupt();
      if (quirk.leave === "throw") throw new LeavingError();
    }
  } catch (thrown) {
    if (!(thrown instanceof LeavingError)) error = describe(thrown);
  }
  return {
    text: withoutLastWords(seen.text),
    thinking: seen.thinking,
    ran,
    usage: client.usage ? withoutDetails(client.usage) : null,
    error,
  };
};

class LeavingError extends Error {}

function makeClient(quirk: QuirkCase, baseURL: string, ran: [string, unknown][]): Client {
  const { profile, idleTimeoutMs, timeoutMs } = quirk;
  const add = tool("add", "Add two numbers.", { a: Number, b: Number }, (input) => {
    ran.push(["add", input]);
    return input.a + input.b;
  });
  const ping = tool("ping", "Say that you are there.", {}, () => {
    ran.push(["ping", {}]);
    return "pong";
  });
  return new Client({
    baseURL,
    model: "test-model",
    tools: [add, ping],
    autoExecuteTools: true,
    // In order, so that the calls that ran can be compared.
    parallelToolCalls: false,
    retry: { delayMs: 1 },
    ...(profile && { profile }),
    ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
}

function describe(error: unknown): Outcome["error"] {
  const message = error instanceof Error ? error.message : String(error);
  return { message, code: error instanceof RondoError ? error.code : "none" };
}

/** The fields that every library reports. */
function withoutDetails({ inputTokens, outputTokens, totalTokens }: Usage): Usage {
  return { inputTokens, outputTokens, totalTokens };
}
