// A chat in a terminal: prompts are typed, Ctrl-C interrupts the answer, and the terminal is left as it was.

import { type CliIo, exitCodes } from "../cli-io.ts";
import { KeyGate } from "../terminal/key-gate.ts";
import { historyFile, PromptHistory } from "../terminal/prompt-history.ts";
import { readLine, readPrompt } from "../terminal/prompt-line.ts";
import { withoutControls } from "../terminal/text.ts";
import type { ChatSession } from "./chat-session.ts";
import type { Screen } from "./screen.ts";

/** Chats until the user leaves. Resolves with the exit code. `first` is the first prompt, if given. */
export async function chatInTerminal(
  session: ChatSession,
  io: CliIo,
  { style }: Screen,
  first: string | undefined,
): Promise<number> {
  const history = new PromptHistory(historyFile(io.env));
  using gate = new KeyGate(io.input, io.output);
  // Signals from other processes: in raw mode keys do not become signals.
  const release = io.onStop(() => {
    gate[Symbol.dispose]();
    io.leave(exitCodes.interrupted);
  });
  const prompt = style.bold("> ");
  const complete = (line: string) => session.complete(line);
  const options = { gate, output: io.output, history, prompt, complete, suspend };
  session.confirm = async () => {
    const typed = await readLine({ gate, output: io.output, history }, style.bold("Allow it? [y/N] "));
    return typeof typed === "object" && /^\s*y(es)?\s*$/i.test(typed.prompt);
  };
  try {
    // Whether the last key was Ctrl-C: the next one leaves. One alone must not lose a conversation.
    let isWarned = false;
    // As if it had been typed.
    if (first !== undefined) io.write(`${prompt}${withoutControls(first)}\n`);
    for (let next = first; ; next = undefined) {
      const typed = next === undefined ? await readPrompt(options) : { prompt: next };
      if (typed === "interrupt") {
        if (isWarned) return exitCodes.interrupted;
        isWarned = true;
        io.write(`${style.dim("(Ctrl-C again leaves.)")}\n`);
        continue;
      }
      if (typed === "end") {
        io.write("\n");
        return exitCodes.ok;
      }
      const { next: then, wasInterrupted } = await submit(session, typed.prompt, gate, io);
      if (then === "exit") return exitCodes.ok;
      isWarned = wasInterrupted;
    }
  } finally {
    release();
  }
}

/** Runs a line. The first Ctrl-C interrupts it, the second leaves without waiting for cleanup. */
async function submit(session: ChatSession, prompt: string, gate: KeyGate, io: CliIo) {
  const controller = new AbortController();
  gate.onInterrupt = () => {
    if (controller.signal.aborted) {
      gate[Symbol.dispose]();
      io.leave(exitCodes.interrupted);
    }
    controller.abort();
  };
  try {
    const next = await session.submit(prompt, controller.signal);
    return { next, wasInterrupted: controller.signal.aborted };
  } finally {
    gate.onInterrupt = () => {};
  }
}

/** Timers stop with the process, so this one fires after `fg`; or soon, if the process cannot be stopped. */
function suspend(onBack: () => void): void {
  process.kill(process.pid, "SIGTSTP");
  setTimeout(onBack, 50);
}
