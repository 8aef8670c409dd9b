// A server in a process of its own that tells how much memory it holds. Started by `startMeasuredServer()`.

import { setTimeout as wait } from "node:timers/promises";
import { type AnyTool, type ToolContext, tool } from "rondo";
import { resolveConfig } from "../../config/check-config.ts";
import { startServer } from "../../http/server.ts";
import { type EntryInput, toolNames } from "./story.ts";

export interface Memory {
  /** The objects of JavaScript and what they hold outside, after a collection. */
  readonly usedBytes: number;
  /** The whole process. */
  readonly residentBytes: number;
}

/** What the process says: where it serves, and then a measurement each time that it is asked. */
export type MeasuredServerMessage = { readonly url: string } | { readonly memory: Memory };

/** What it can be asked for: a measurement, or to keep from now on what it should let go. */
export type MeasuredServerRequest = "measure" | "leak";

const [store = "", modelUrl = ""] = process.argv.slice(2);
const kept: unknown[] = [];
let leaks = false;

const server = await startServer(
  resolveConfig({
    port: 0,
    store,
    models: { story: { url: modelUrl } },
    tools: [...toolNames.once, ...toolNames.repeatable].map(quickTool),
    runs: { concurrency: 10_000 },
    log: { level: "warn" },
  }),
);
say({ url: server.url });
process.on("message", (request: MeasuredServerRequest) => {
  if (request === "leak") leaks = true;
  else void measure().then((memory) => say({ memory }));
});
process.on("disconnect", () => void server.close());

/** A tool that keeps its context is a mistake that is easily made. */
function quickTool(name: string): AnyTool {
  const input = { story: String, step: Number, place: Number, ms: Number };
  return tool(
    { name, description: "Answers soon.", input, registry: false },
    async (given: EntryInput, context: ToolContext) => {
      if (leaks) kept.push(context);
      await wait(given.ms);
      return `answer ${given.place} of ${given.story}`;
    },
  );
}

/** Collects until nothing more comes free: timers and closed sockets need some rounds of the event loop. */
async function measure(): Promise<Memory> {
  let least = Number.POSITIVE_INFINITY;
  let unchanged = 0;
  while (unchanged < 5) {
    globalThis.gc?.();
    await wait(20);
    const { heapUsed, external } = process.memoryUsage();
    unchanged = heapUsed + external < least - 10_000 ? 0 : unchanged + 1;
    least = Math.min(least, heapUsed + external);
  }
  return { usedBytes: least, residentBytes: process.memoryUsage.rss() };
}

function say(message: MeasuredServerMessage): void {
  process.send?.(message);
}
