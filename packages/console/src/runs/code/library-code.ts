// A run as a program with the library.

import { programParts } from "./program.ts";
import { endsWithCalls, type RunRecord } from "./record.ts";
import { quote, toComment } from "./source.ts";

const exampleEndpoint = "http://127.0.0.1:11434/v1";

/** Asks the same model server the same, with tools that give what they gave in the run. */
export function toLibraryCode(record: RunRecord): string {
  const { response, rounds, title } = record;
  const { tools, options, ask } = programParts(record);
  const { endpoint, model = response.model } = rounds[0] ?? {};
  const isUrl = endpoint !== undefined && /^https?:/.test(endpoint);
  const runsTools = tools.length > 0 && !endsWithCalls(record);
  const imports = ["Client", "openaiCompatible", ...(tools.length > 0 ? ["tool"] : [])];
  return lines(
    `// ${toComment(title)}`,
    "// Save it as run.mjs, then: npm install rondo && node run.mjs",
    `import { ${imports.join(", ")} } from "rondo";`,
    "",
    "const model = openaiCompatible({",
    `  baseURL: ${quote(isUrl ? endpoint : exampleEndpoint)},${isUrl ? "" : " // your model server"}`,
    `  model: ${quote(model)},`,
    "});",
    "",
    ...(tools.length > 0 ? [...tools, ""] : []),
    "const client = new Client({",
    "  model,",
    ...options.map((option) => `  ${option},`),
    ...(runsTools ? ["  autoExecuteTools: true,"] : []),
    "});",
    ...ask,
    "for await (const block of client.receiveMessages()) {",
    '  if (block.type === "text") process.stdout.write(block.text);',
    '  else if (block.type === "tool_use") console.log(block.name, block.input);',
    "}",
    "await client.close();",
  );
}

export function lines(...parts: readonly string[]): string {
  return `${parts.join("\n")}\n`;
}
