// An agent that thinks: its model calls its tools, whose results may be queued or stored
import { Agent, ContextItem, Turn, tool } from "rondo";
import { scriptedModel } from "rondo/testing";

const lookUp = tool("look_up", "Look up a price.", { plant: String }, ({ plant }) => plant.length * 3);
// A turn that a tool returns is queued, and runs after the answer.
const send = tool("send", "Send a plant.", { plant: String }, ({ plant }) => `a ${plant} is on its way`);
const order = tool("order", "Order a plant.", { plant: String }, ({ plant }) => new Turn(send, { plant }));
// A context item is stored, and is part of the prompt from the next question on.
const note = tool(
  "note",
  "Note what the customer likes.",
  { likes: String },
  ({ likes }) => new ContextItem({ id: "taste", description: "What the customer likes", content: likes }),
);

const gardener = new Agent({
  name: "gardener",
  instructions: "You sell plants. Be brief.",
  tools: [lookUp, order, send, note],
  // Scripted, so that this runs anywhere. For a real model: model: ollama("qwen3:8b"),
  model: scriptedModel([
    {
      thinking: "Something for the shade.",
      calls: [
        { name: "look_up", input: { plant: "fern" } },
        { name: "note", input: { likes: "shade" } },
      ],
    },
    "A fern, for 12.",
    { calls: [{ name: "order", input: { plant: "fern" } }] },
    ({ messages }) => {
      const [system] = messages; // the instructions and the agent's context
      if (system?.role === "system") console.log("context:", system.content.split("\n").slice(-2));
      return "Ordered.";
    },
  ]),
});

await gardener.ask("What grows in the shade?");
await gardener.ask("I take it.");
for await (const [turn, value] of gardener.run()) {
  if (typeof value !== "object") console.log(turn.tool.name, value);
  else if (value.type === "tool_use") console.log("calls", value.name, value.input);
  else if (value.type === "tool_result") console.log("gets", value.content);
  else if (value.type === "text") console.log("says:", value.text);
}
// → calls look_up { plant: 'fern' }
// → calls note { likes: 'shade' }
// → gets 12
// → gets noted
// → says: A fern, for 12.
// → calls order { plant: 'fern' }
// → gets queued
// → context: [ '[taste] What the customer likes', 'shade' ]
// → says: Ordered.
// → send a fern is on its way
