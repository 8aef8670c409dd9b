// Runs cases through other clients, each used the way its own documentation shows. A process of its own: it gets
// { peer, url, limits, leave } as messages, and answers each with an outcome.
import { runAiSdk } from "./ai-sdk.mjs";
import { runLangChain } from "./langchain.mjs";
import { runOpenAIAgents } from "./openai-agents.mjs";

const runners = { "ai-sdk": runAiSdk, "openai-agents": runOpenAIAgents, langchain: runLangChain };

// What these libraries throw outside of any promise that a caller can see must not end the comparison.
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
      /** Called with each piece of text; true when the caller leaves. */
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
  // Whoever leaves does not mind how he is told so.
  if (task.leave) delete outcome.error;
  process.send({ outcome });
}
