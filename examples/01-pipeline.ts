// A pipeline: a tool returns a turn of the next tool
import { Agent, Turn, tool } from "rondo";

const inbox = ["Order 7: two teapots.", "", "Order 8: a kettle."];

const confirm = tool(
  { name: "confirm", description: "Confirm an order.", input: { order: Number, goods: String } },
  async ({ order, goods }) => `order ${order} is on its way: ${goods}`,
);

const understand = tool(
  { name: "understand", description: "Find the order in a letter.", input: { letter: String } },
  async ({ letter }) => {
    const [, order, goods] = /^Order (\d+): (.+)\.$/.exec(letter) ?? [];
    // The next stage is decided at run time: another turn, or a value for the caller.
    if (order === undefined || goods === undefined) return "a letter without an order";
    return new Turn(confirm, { order: Number(order), goods });
  },
);

const open = tool(
  { name: "open", description: "Open a letter.", input: { number: Number } },
  async ({ number }) => new Turn(understand, { letter: inbox[number] ?? "" }),
);

const clerk = new Agent({ name: "clerk", tools: [open, understand, confirm] });
for (const number of inbox.keys()) await clerk.put(new Turn(open, { number }));

// Turns that tools return are queued and run, not yielded. Each stage processes all letters before the next one.
for await (const [turn, value] of clerk.run()) console.log(`${turn.tool.name}:`, value);
// → understand: a letter without an order
// → confirm: order 7 is on its way: two teapots
// → confirm: order 8 is on its way: a kettle
