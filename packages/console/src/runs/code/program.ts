// The parts that a program with the library and a test with the scripted model share.

import { splitPrompt, toMessages } from "./conversation.ts";
import { type RunRecord, resultsOf, toolsOf } from "./record.ts";
import { quote, toSource } from "./source.ts";

export interface ProgramParts {
  /** The lines that define `tools`; none if there are no tools. */
  readonly tools: readonly string[];
  /** The options of the client, beside the model and whether tools run by themselves, each as `name: value`. */
  readonly options: readonly string[];
  /** The lines that ask the client. */
  readonly ask: readonly string[];
}

export function programParts(record: RunRecord): ProgramParts {
  const { response, input, earlier } = record;
  const tools = toolsOf(record);
  const { before, prompt } = splitPrompt([...toMessages(earlier), ...toMessages(input)]);
  return {
    tools: tools.length === 0 ? [] : toolLines(record),
    options: [
      ...(typeof response.instructions === "string" ? [`systemPrompt: ${quote(response.instructions)}`] : []),
      ...(tools.length > 0 ? ["tools"] : []),
      ...outputOption(response["text"]),
      `maxTokens: ${toSource(response["max_output_tokens"])}`,
      `temperature: ${response["temperature"] === 1 ? "null" : toSource(response["temperature"])}`,
    ],
    ask: [
      ...(before.length > 0 ? [`client.messageHistory = ${toSource(before)};`] : []),
      `await client.query(${toSource(prompt)});`,
    ],
  };
}

/** The tools, which give what they gave in the run. */
function toolLines(record: RunRecord): string[] {
  const results = [...resultsOf(record)].map(([name, list]) => [name, list]);
  return [
    "// What each tool gave in this run, in order. Put your own code in its place.",
    `const results = new Map(${toSource(results)});`,
    "function next(name) {",
    '  const { output = "", error } = results.get(name)?.shift() ?? {};',
    "  if (error !== undefined) throw new Error(error);",
    "  return output;",
    "}",
    "const tools = [",
    ...toolsOf(record).map(
      ({ name, description, schema }) =>
        `  tool(${quote(name)}, ${quote(description)}, ${toSource(schema, "  ")}, () => next(${quote(name)})),`,
    ),
    "];",
  ];
}

function outputOption(text: unknown): string[] {
  const { format } = (text ?? {}) as { format?: { type?: unknown; schema?: unknown } };
  return format?.type === "json_schema" && format.schema ? [`output: ${toSource(format.schema, "  ")}`] : [];
}
