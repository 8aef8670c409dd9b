// A chat in a pipe: each input line is a prompt, and only answers go to standard output.

import { createInterface } from "node:readline";
import { type CliIo, exitCodes } from "../cli-io.ts";
import type { ChatSession } from "./chat-session.ts";

/** Chats until the input ends. Resolves with the exit code: 1 if an answer or a command failed. */
export async function chatInPipe(
  session: ChatSession,
  io: CliIo,
  first: string | undefined,
): Promise<number> {
  const controller = new AbortController();
  const release = io.onStop(() => {
    if (controller.signal.aborted) io.leave(exitCodes.interrupted);
    controller.abort();
  });
  let exitCode: number = exitCodes.ok;
  try {
    for await (const prompt of first === undefined ? promptsIn(io, controller.signal) : [first]) {
      const outcome = await session.submit(prompt, controller.signal);
      if (controller.signal.aborted) break;
      if (outcome === "exit") break;
      if (outcome === "failed") exitCode = exitCodes.failure;
    }
    return controller.signal.aborted ? exitCodes.interrupted : exitCode;
  } finally {
    release();
  }
}

/** The prompts of standard input: one per line; a backslash at the end continues on the next. */
async function* promptsIn({ input }: CliIo, signal: AbortSignal): AsyncGenerator<string, void, void> {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY, terminal: false });
  const close = () => lines.close();
  signal.addEventListener("abort", close);
  let begun = "";
  try {
    for await (const line of lines) {
      if (line.endsWith("\\")) {
        begun += `${line.slice(0, -1)}\n`;
        continue;
      }
      const prompt = begun + line;
      begun = "";
      if (prompt.trim() !== "") yield prompt;
    }
    if (begun.trim() !== "") yield begun.trimEnd();
  } finally {
    signal.removeEventListener("abort", close);
    lines.close();
    // An open pipe would keep the process alive.
    input.pause();
  }
}
