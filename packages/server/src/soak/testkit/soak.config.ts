// The configuration of the server that is killed, loaded by the real command. The test tells by the environment
// what it must know.

import { flushCompileCache } from "node:module";
import { defineConfig } from "../../config/schema.ts";
import { entryTools } from "./entry-tools.ts";

const { SOAK_EFFECTS_FILE: file = "", SOAK_MODEL_URL: url = "" } = process.env;

// At the end of the process would be too late: it is killed.
flushCompileCache();

export default defineConfig({
  models: { story: { url } },
  tools: entryTools(file, (effect) => process.stdout.write(`${JSON.stringify(effect)}\n`)),
  // A run that is cut again and again before it gets any further would fail; there are more kills here than in life.
  runs: { maxAttempts: 10_000, concurrency: 16 },
  log: { level: "warn" },
});
