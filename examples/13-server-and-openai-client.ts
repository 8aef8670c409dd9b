// A server with a tool, and an OpenAI client that uses it: plain, streamed, and with state
import { startServer } from "@rondo/server";
import OpenAI from "openai";
import { tool } from "rondo";
import { demoModel } from "rondo/demo";

// The tool runs on the server: clients only see its calls and results.
const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => {
  console.log(`(the server adds ${a} and ${b})`);
  return a + b;
});
await using server = await startServer({
  port: 0, // any that is free
  store: "memory", // or sqlite:./rondo.db
  log: { level: "silent" },
  models: { demo: demoModel() }, // or endpoints: [{ url: "http://localhost:11434/v1" }]
  tools: [add],
});

const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none" });
console.log(
  "models:",
  (await openai.models.list()).data.map(({ id }) => id),
);
// → models: [ 'demo' ]

const first = await openai.responses.create({ model: "demo", input: "What is 25 + 17?" });
for (const item of first.output)
  if (item.type === "mcp_call") console.log(item.name, item.arguments, item.output);
console.log(first.output_text);
// → (the server adds 25 and 17)
// → add {"a":25,"b":17} 42
// → 25 + 17 is 42.

// The server stored the conversation, so "it" is 42.
const stream = await openai.responses.create({
  model: "demo",
  input: "Add 8 to it.",
  previous_response_id: first.id,
  stream: true,
});
for await (const event of stream) {
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
  if (event.type === "response.completed") console.log(` (${event.response.status})`);
}
// → (the server adds 42 and 8)
// → 42 + 8 is 50. (completed)
