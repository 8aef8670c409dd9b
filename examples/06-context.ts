// Context: tools write the agent's memory, and later tools read it
import { Agent, ContextItem, ContextQueue, Turn, tool } from "rondo";

// Without an id: a note for the queue, which keeps the newest few.
const hear = tool(
  { name: "hear", description: "Note what the guest says.", input: { words: String } },
  async ({ words }) => new ContextItem({ content: words }),
);

// With an id: a document for the pool, which is keyed by id. The same id replaces it.
const lookUp = tool(
  { name: "look_up", description: "Get the menu of a day.", input: { day: String } },
  async ({ day }) =>
    new ContextItem({ id: "menu", description: `The menu of ${day}`, content: ["soup", "fish"] }),
);

const answer = tool(
  { name: "answer", description: "Answer with what is known." },
  async (_input, { contextQueue, contextPool }) => ({
    heard: contextQueue?.history(),
    known: contextPool?.catalogue(),
    menu: contextPool?.get("menu").content,
  }),
);

const waiter = new Agent({
  name: "waiter",
  tools: [hear, lookUp, answer],
  contextQueue: new ContextQueue({ limit: 2 }),
});
waiter.contextQueue.onEvict(async (_queue, oldest) => console.log("evicts:", oldest.content));

for (const words of ["Hello.", "No meat, please.", "What is there?"])
  await waiter.put(new Turn(hear, { words }));
await waiter.put(new Turn(lookUp, { day: "Sunday" }));
await waiter.put(new Turn(answer));

// Items are stored, not yielded: the only value is the answer.
for await (const [, value] of waiter.run()) console.log(value);
// → evicts: Hello.
// → {
// →   heard: 'No meat, please.\nWhat is there?',
// →   known: '- [menu] The menu of Sunday',
// →   menu: [ 'soup', 'fish' ]
// → }
