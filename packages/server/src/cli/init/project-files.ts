// The files of a new project: as few as show a tool, an agent, a test and a server.

import type { FoundServer } from "../../config/discover.ts";

/** The model of a new project. */
export interface ChosenModel extends Pick<FoundServer, "kind" | "url"> {
  readonly name: string;
  /** Whether `RONDO_MODEL_API_KEY` is set, for this server. */
  readonly needsKey: boolean;
}

/** The files by their names; without a model, with the demo model. `version` is that of both packages. */
export function projectFiles(model: ChosenModel | undefined, version: string): Record<string, string> {
  return {
    "tools.ts": tools,
    "agent.ts": agentFile(model),
    "agent.test.ts": test,
    "rondo.config.ts": configFile(model),
    "README.md": readme(model === undefined),
    ".gitignore": "node_modules/\nrondo.db*\n",
    "package.json": manifest(version),
  };
}

function manifest(version: string): string {
  const content = {
    name: "my-agent",
    private: true,
    type: "module",
    scripts: { start: "rondo serve", test: "node --test" },
    dependencies: { "@rondo/server": `^${version}`, rondo: `^${version}` },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

const tools = `// Tools: functions with a name, a description and an input, which models may call.
import { tool } from "rondo";

export const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
`;

const presets = {
  ollama: "http://localhost:11434/v1",
  lmstudio: "http://localhost:1234/v1",
  llamacpp: "http://localhost:8080/v1",
  vllm: "http://localhost:8000/v1",
};

const key = 'process.env["RONDO_MODEL_API_KEY"]';

function agentFile(model: ChosenModel | undefined): string {
  const { imports, expression } = modelCode(model);
  return `// An agent: a model, its instructions and its tools.
${imports}
import { add } from "./tools.ts";

/** The agent with any model: the test has another one. */
export function createAgent(name: string, model: ModelProvider): Agent {
  return new Agent({ name, model, instructions: "Answer briefly. Use the tools for sums.", tools: [add] });
}

export default createAgent("assistant", ${expression});
`;
}

function modelCode(model: ChosenModel | undefined): { imports: string; expression: string } {
  if (model === undefined)
    return {
      imports: 'import { Agent, type ModelProvider } from "rondo";\nimport { demoModel } from "rondo/demo";',
      // The demo model is a stand-in, so the file says how to replace it.
      expression: 'demoModel() /* or: ollama("qwen3:8b"), with ollama from "rondo" */',
    };
  const { kind, url, name, needsKey } = model;
  const isPreset = kind !== "other" && kind !== "sglang" && presets[kind] === url && !needsKey;
  const imported = isPreset ? kind : "openaiCompatible";
  const names = ["Agent", "type ModelProvider", imported].toSorted((a, b) => (bare(a) < bare(b) ? -1 : 1));
  const options = `{ baseURL: ${JSON.stringify(url)}, model: ${JSON.stringify(name)}${needsKey ? `, apiKey: ${key}` : ""} }`;
  return {
    imports: `import { ${names.join(", ")} } from "rondo";`,
    expression: isPreset ? `${kind}(${JSON.stringify(name)})` : `openaiCompatible(${options})`,
  };
}

const bare = (name: string) => name.replace("type ", "");

const test = `import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedModel } from "rondo/testing";
import { createAgent } from "./agent.ts";

test("the agent adds with its tool", async () => {
  using model = scriptedModel([{ calls: [{ name: "add", input: { a: 25, b: 17 } }] }, "It is 42."]);
  const agent = createAgent("tested", model);
  await agent.ask("What is 25 + 17?");
  const values = await Array.fromAsync(agent.run(), ([, value]) => value);
  const results = values.flatMap((value) => (value.type === "tool_result" ? [value.content] : []));
  assert.deepEqual(results, [42]);
});
`;

function configFile(model: ChosenModel | undefined): string {
  const imports = `import { defineConfig } from "@rondo/server";${model === undefined ? '\nimport { demoModel } from "rondo/demo";' : ""}`;
  const access = model && `{ url: ${JSON.stringify(model.url)}${model.needsKey ? `, apiKey: ${key}` : ""} }`;
  const served =
    model === undefined
      ? 'models: { demo: demoModel() }, // or: endpoints: [{ url: "http://localhost:11434/v1" }]'
      : `endpoints: [${access}],\n  defaultModel: ${JSON.stringify(model.name)},`;
  return `// The server: \`npx rondo serve\` serves the model and the tools of this file to every OpenAI client.
${imports}
import { add } from "./tools.ts";

export default defineConfig({
  ${served}
  tools: [add],
});
`;
}

function readme(isDemo: boolean): string {
  const note = isDemo
    ? "\nNo model server was found, so the model is a stand-in that can calculate and call tools. `agent.ts` and `rondo.config.ts` show where to put a real one; `npx rondo doctor` checks it.\n"
    : "";
  return `# My agent

An agent with a tool, for a model that you host yourself. It needs Node 24 or newer.
${note}
\`\`\`sh
npm install
node --test                                            # the test, without a model
npx rondo run agent.ts --input "What is 25 + 17?"      # ask the agent
npx rondo chat --tools tools.ts                        # chat with the model and the tools
npx rondo serve                                        # the Responses API at http://127.0.0.1:4500/v1
\`\`\`

| file | has |
|---|---|
| \`tools.ts\` | the tools |
| \`agent.ts\` | the agent, with its model and instructions |
| \`agent.test.ts\` | a test with a scripted model |
| \`rondo.config.ts\` | the server's config |
`;
}
