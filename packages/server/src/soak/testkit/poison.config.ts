// The configuration of a server whose tools end or block its process, loaded by the real command.

import { flushCompileCache } from "node:module";
import { tool } from "rondo";
import { defineConfig } from "../../config/schema.ts";
import { poisons } from "./poison-model.ts";

const { POISON_MODEL_URL: url = "" } = process.env;

const work: Record<(typeof poisons)[number], () => void> = {
  block: () => {
    while (true);
  },
  exit: () => process.exit(3),
  throw: () => void setTimeout(() => lose(), 1),
  abort: () => process.abort(),
};

// At the end of the process would be too late: it is killed.
flushCompileCache();

export default defineConfig({
  models: { poison: { url } },
  tools: poisons.map((name) =>
    tool({ name, description: name, input: { n: Number }, registry: false }, async () => {
      // Whoever looks at what was last begun finds another run.
      await new Promise((resolve) => setTimeout(resolve, 50));
      work[name]();
      return new Promise<string>(() => {});
    }),
  ),
  watchdog: { blockedMs: 1000 },
  log: { level: "warn" },
});

function lose(): never {
  throw new Error("Nobody catches this.");
}
