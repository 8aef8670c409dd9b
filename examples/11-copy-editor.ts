// A copy editor ported from claude-agent-sdk, with the lines that changed
import { query, tool } from "rondo"; // was: from "@anthropic-ai/claude-agent-sdk", and createSdkMcpServer
import { scriptedModel } from "rondo/testing"; // new, only for this example
import { z } from "zod";

const text = "The comittee have met. It's decision is final.";

const report = tool(
  "report_issue",
  "Report one problem of the text.",
  { quote: z.string(), problem: z.string(), severity: z.enum(["minor", "major"]) },
  async ({ quote, problem, severity }) => {
    console.log(`${severity}: "${quote}": ${problem}`);
    return { content: [{ type: "text", text: "noted" }] }; // results in MCP's format are supported
  },
);
// gone: const server = createSdkMcpServer({ name: "editor", tools: [report] });

const answer = query({
  prompt: `Edit this text:\n\n${text}`,
  options: {
    model: copyEditor(), // was: "claude-…"; for a real model: ollama("qwen3:8b")
    systemPrompt: "You are a copy editor. Report each problem, then give the corrected text.",
    tools: [report], // was: mcpServers: { editor: server }
    allowedTools: ["report_issue"], // was: ["mcp__editor__report_issue"]
    autoExecuteTools: true, // new: tools run automatically only on request
    maxToolIterations: 5, // was: maxTurns: 5
  },
});
for await (const message of answer) {
  if (message.type === "assistant")
    for (const block of message.content) // was: message.message.content
      if (block.type === "text") console.log(block.text);
  if (message.type === "result") console.log(`${message.stopReason}, ${message.usage?.totalTokens} tokens`);
}
// → minor: "comittee": spelling
// → major: "It's decision": the possessive is "its"
// → The committee has met. Its decision is final.
// → completed, 410 tokens

/** Stands in for a model. */
function copyEditor() {
  const usage = (inputTokens: number, outputTokens: number) => ({
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
  });
  const spelling = { quote: "comittee", problem: "spelling", severity: "minor" };
  const grammar = { quote: "It's decision", problem: 'the possessive is "its"', severity: "major" };
  return scriptedModel([
    { calls: [spelling, grammar].map((input) => ({ name: "report_issue", input })), usage: usage(120, 60) },
    { text: "The committee has met. Its decision is final.", usage: usage(215, 15) },
  ]);
}
