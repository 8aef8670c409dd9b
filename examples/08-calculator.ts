// A calculator: the model chooses the tools, which run manually or automatically
import { type AnyTool, Client, tool } from "rondo";
import { scriptedModel } from "rondo/testing";

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const multiply = tool("multiply", "Multiply two numbers.", { a: Number, b: Number }, ({ a, b }) => a * b);
const tools: AnyTool[] = [add, multiply];

const question = "What is 25 + 17, times 3?";
// Scripted, so that this runs anywhere. For a real model: const model = ollama("qwen3:8b");
const calculator = () =>
  scriptedModel([
    { calls: [{ name: "add", input: { a: 25, b: 17 } }] },
    { calls: [{ name: "multiply", input: { a: 42, b: 3 } }] },
    "The answer is 126.",
  ]);

// Manual, the default: you receive each call. Run it, or do not, and give the model a result.
{
  await using client = new Client({ model: calculator(), tools });
  await client.query(question);
  for await (const block of client.receiveMessages()) {
    if (block.type === "text") console.log("manual:", block.text);
    if (block.type !== "tool_use") continue;
    const result = await tools.find(({ name }) => name === block.name)?.execute(block.input);
    console.log("manual:", block.name, block.input, "is", result);
    await client.addToolResult(block.id, result);
    await client.query(""); // continues: the same loop receives the next answer
  }
  // → manual: add { a: 25, b: 17 } is 42
  // → manual: multiply { a: 42, b: 3 } is 126
  // → manual: The answer is 126.
}

// Automatic: the tools run as the model calls them, until it answers without calls.
{
  await using client = new Client({ model: calculator(), tools, autoExecuteTools: true });
  await client.query(question);
  for await (const block of client.receiveMessages())
    if (block.type === "tool_result") console.log("automatic:", block.content);
  // → automatic: 42
  // → automatic: 126
  console.log("automatic:", client.result?.text); // → automatic: The answer is 126.

  // In both modes, history has every call with its result.
  console.log(client.history.map(({ role }) => role).join(", "));
  // → user, assistant, tool, assistant, tool, assistant
}
