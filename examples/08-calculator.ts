// A calculator: the model chooses the tools, and you run them, or they run by themselves
import { type AnyTool, Client, tool } from "rondo";
import { scriptedModel } from "rondo/testing";

const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
const multiply = tool("multiply", "Multiply two numbers.", { a: Number, b: Number }, ({ a, b }) => a * b);
const tools: AnyTool[] = [add, multiply];

const question = "What is 25 + 17, times 3?";
// Scripted, so that this runs anywhere. A real model is one line: const model = ollama("qwen3:8b");
const calculator = () =>
  scriptedModel([
    { calls: [{ name: "add", input: { a: 25, b: 17 } }] },
    { calls: [{ name: "multiply", input: { a: 42, b: 3 } }] },
    "The answer is 126.",
  ]);

// By hand, which is the default: each call comes to you. Run it, or do not, and give the model a result.
{
  await using client = new Client({ model: calculator(), tools });
  await client.query(question);
  for await (const block of client.receiveMessages()) {
    if (block.type === "text") console.log("by hand:", block.text);
    if (block.type !== "tool_use") continue;
    const result = await tools.find(({ name }) => name === block.name)?.execute(block.input);
    console.log("by hand:", block.name, block.input, "is", result);
    await client.addToolResult(block.id, result);
    await client.query(""); // goes on: the same loop receives the next answer
  }
  // → by hand: add { a: 25, b: 17 } is 42
  // → by hand: multiply { a: 42, b: 3 } is 126
  // → by hand: The answer is 126.
}

// Automatic: the tools run as the model asks for them, until it answers with text alone.
{
  await using client = new Client({ model: calculator(), tools, autoExecuteTools: true });
  await client.query(question);
  for await (const block of client.receiveMessages())
    if (block.type === "tool_result") console.log("automatic:", block.content);
  // → automatic: 42
  // → automatic: 126
  console.log("automatic:", client.result?.text); // → automatic: The answer is 126.

  // Whichever way it went, history has every call with its result.
  console.log(client.history.map(({ role }) => role).join(", "));
  // → user, assistant, tool, assistant, tool, assistant
}
