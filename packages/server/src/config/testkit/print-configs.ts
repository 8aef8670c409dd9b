// A program that loads the config of each folder it is given, as Node itself loads it, and prints what came out.
import { ConfigError } from "../config-error.ts";
import { loadConfig } from "../load.ts";

const results = [];
for (const cwd of process.argv.slice(2)) {
  try {
    const { port, tools, defaultModel } = await loadConfig({ cwd, env: {} });
    results.push({ port, tools: tools.map((tool) => tool.name), defaultModel });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    results.push({ message: error.message, cause: error.cause instanceof Error && error.cause.name });
  }
}
console.log(JSON.stringify(results));
