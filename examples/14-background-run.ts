// A background run: started, followed, left and resumed; and another one that is cancelled
import { EventEmitter, once } from "node:events";
import { startServer } from "@rondo/server";
import OpenAI from "openai";
import { tool } from "rondo";
import { demoModel } from "rondo/demo";

// A tool that waits, and observes its signal.
const office = Object.assign(new EventEmitter(), { isOpen: false });
const add = tool(
  "add",
  "Add numbers in the office.",
  { a: Number, b: Number },
  async ({ a, b }, { signal }) => {
    if (!office.isOpen) await once(office, "open", { signal });
    return a + b;
  },
);
await using server = await startServer({
  port: 0,
  store: "memory", // with sqlite:./rondo.db the run resumes even after a crash
  log: { level: "silent" },
  models: { demo: demoModel() },
  tools: [add],
});
const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none" });

// The reply comes at once, before the run starts.
const { id, status } = await openai.responses.create({
  model: "demo",
  input: "What is 25 + 17?",
  background: true,
});
console.log(status); // → queued

// Follow it for a while, and leave. The run continues.
let seen = -1;
for await (const event of await openai.responses.retrieve(id, { stream: true })) {
  seen = event.sequence_number;
  if (event.type !== "response.mcp_call.in_progress") continue;
  console.log("the tool is called"); // → the tool is called
  break;
}

// Cancel another one.
const other = await openai.responses.create({ model: "demo", input: "What is 1 + 2?", background: true });
console.log((await openai.responses.cancel(other.id)).status); // → cancelled
office.isOpen = true;
office.emit("open");

// Later, from anywhere, continue after the last event seen: nothing is lost or duplicated.
for await (const event of await openai.responses.retrieve(id, { stream: true, starting_after: seen })) {
  if (event.sequence_number !== ++seen) throw new Error("an event is missing");
  if (event.type === "response.mcp_call.completed") console.log("the tool is done");
  if (event.type === "response.completed") console.log(event.response.status);
}
console.log((await openai.responses.retrieve(id)).output_text);
// → the tool is done
// → completed
// → 25 + 17 is 42.
