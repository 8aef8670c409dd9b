// A run as a test: the scripted model answers as the model did, so that the rest can be tested without one.

import { lines } from "./library-code.ts";
import { programParts } from "./program.ts";
import { answersOf, endsWithCalls, openNames, type RunRecord, toolsOf } from "./record.ts";
import { quote, toComment, toSource } from "./source.ts";

export function toScriptedTest(record: RunRecord): string {
  const { response, title } = record;
  const { tools, options, ask } = programParts(record);
  const answers = answersOf(record);
  const { error } = response;
  const waits = endsWithCalls(record);
  const script = [
    ...answers.map((answer) => toSource(answer, "    ")),
    ...(error ? [`{ error: new Error(${quote(error.message)}) }`] : []),
  ];
  const clientOptions = [
    "model",
    ...options,
    ...(waits ? [] : ["autoExecuteTools: true", `maxToolIterations: ${Math.max(5, script.length)}`]),
    "maxRepeats: Infinity",
  ];
  const drain = "for await (const _ of client.receiveMessages());";
  return lines(
    `// ${toComment(title)}`,
    "// Save it as run.test.mjs, then: npm install rondo && node --test run.test.mjs",
    'import assert from "node:assert/strict";',
    'import { test } from "node:test";',
    `import { Client${tools.length > 0 ? ", tool" : ""} } from "rondo";`,
    'import { scriptedModel } from "rondo/testing";',
    "",
    `test(${quote(toComment(title) || "a run")}, async () => {`,
    "  // The answers of the model, as they were.",
    "  const answers = [",
    ...script.map((answer) => `    ${answer},`),
    "  ];",
    "  const model = scriptedModel(answers);",
    ...tools.map(indented),
    `  const client = new Client({ ${clientOptions.join(", ")} });`,
    ...ask.slice(0, -1).map(indented),
    ...(error
      ? [
          "  await assert.rejects(async () => {",
          `    ${ask.at(-1)}`,
          `    ${drain}`,
          `  }, ${toSource({ message: error.message })});`,
        ]
      : [`  ${ask.at(-1)}`, `  ${drain}`, ...(waits && tools.length > 0 ? callLines(drain) : [])]),
    ...(error ? [] : assertions(record)),
    "  model.assertUsedUp();",
    "  await client.close();",
    "});",
  );
}

/** Texts have no line breaks of their own, so each line is one of code. */
function indented(code: string): string {
  return `  ${code.replaceAll("\n", "\n  ")}`;
}

/** Runs the calls that ran here; those of the last answer wait for the client. */
function callLines(drain: string): string[] {
  return [
    "  while (model.requests.length < answers.length) {",
    "    for (const { id, name } of client.openCalls) {",
    '      const { output = "", error = output } = results.get(name)?.shift() ?? {};',
    "      await client.addToolResult(id, error);",
    "    }",
    '    await client.query("");',
    `    ${drain}`,
    "  }",
  ];
}

function assertions(record: RunRecord): string[] {
  if (!endsWithCalls(record))
    return [`  assert.equal(client.result?.text, ${quote(answersOf(record).at(-1)?.text ?? "")});`];
  const known = new Set(toolsOf(record).map(({ name }) => name));
  const names = openNames(record).filter((name) => known.has(name));
  return [`  assert.deepEqual(client.openCalls.map(({ name }) => name), ${toSource(names)});`];
}
