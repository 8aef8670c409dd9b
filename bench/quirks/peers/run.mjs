// Runs cases through other clients, each used as its documentation shows. A separate process: it receives
// { peer, url, limits, leave } as messages, and replies to each with an outcome.
import { runAiSdk } from "./ai-sdk.mjs";
import { runLangChain } from "./langchain.mjs";
import { runOpenAIAgents } from "./openai-agents.mjs";

const runners = { "ai-sdk": runAiSdk, "openai-agents": runOpenAIAgents, langchain: runLangChain };

// Unhandled errors of these libraries must not end the comparison.
let stray;
process.on("unhandledRejection", (error) => (stray = error));
process.on("uncaughtException", (error) => (stray = error));

process.on("message", (task) => void answer(task));
process.send({ isReady: true });

async function answer({ peer, ...task }) {
  stray = undefined;
  const outcome = { text: "", ran: [] };
  const leaving = new AbortController();
  const { idleTimeoutMs, timeoutMs } = task.limits;
  const timer = timeoutMs && setTimeout(() => leaving.abort(), timeoutMs);
  try {
    await runners[peer]({
      ...task,
      outcome,
      idleTimeoutMs,
      signal: leaving.signal,
      /** Called with each text delta; true when the caller leaves. */
      leaves() {
        if (task.leave === "interrupt") leaving.abort();
        if (task.leave === "throw") throw new Error("leaving");
        return task.leave === "break";
      },
    });
    if (leaving.signal.aborted && !task.leave) outcome.error ??= { message: "aborted" };
  } catch (error) {
    if (!task.leave) outcome.error = { message: String(error?.message ?? error) };
  } finally {
    clearTimeout(timer);
  }
  if (stray) outcome.error ??= { message: String(stray?.message ?? stray) };
  // After leaving, any error will do.
  if (task.leave) delete outcome.error;
  process.send({ outcome });
}
