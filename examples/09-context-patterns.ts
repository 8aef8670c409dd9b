// Four ways to keep a conversation small, and nothing is ever cut behind your back
import { Client, estimateTokens, truncateMessages, truncateToBudget } from "rondo";
import { scriptedModel } from "rondo/testing";

// Scripted, so that this runs anywhere. A real model is one line: const model = ollama("qwen3:8b");
const model = scriptedModel(({ messages }) => `Done, with ${messages.length} messages before my eyes.`);
const tasks = ["Check the title.", "Check the first chapter.", "Check the index."];

async function ask(client: Client, prompt: string): Promise<string> {
  await client.query(prompt);
  for await (const _ of client.receiveMessages());
  return client.result?.text ?? "";
}

// 1. Stateless: a new client for each task. Nothing of one task reaches the next.
for (const task of tasks) {
  await using client = new Client({ model });
  console.log("stateless:", await ask(client, task));
}
// → stateless: Done, with 1 messages before my eyes.
// → stateless: Done, with 1 messages before my eyes.
// → stateless: Done, with 1 messages before my eyes.

// 2. Truncation: at a natural break, only the last messages stay.
await using editor = new Client({ model });
for (const task of tasks) {
  console.log("truncation:", await ask(editor, task));
  editor.messageHistory = truncateMessages(editor.history, { keep: 2 });
}
// → truncation: Done, with 1 messages before my eyes.
// → truncation: Done, with 3 messages before my eyes.
// → truncation: Done, with 3 messages before my eyes.

// 3. A budget: when the conversation is too large, its oldest turns go, calls together with their results.
await using guest = new Client({ model });
for (const task of [...tasks, ...tasks]) {
  await ask(guest, task);
  const tokens = estimateTokens(guest.history);
  if (tokens > 80) guest.messageHistory = truncateToBudget(guest.history, { maxTokens: 80 });
  console.log(`budget: ${tokens} tokens, ${guest.messageHistory.length} messages stay`);
}
// → budget: 23 tokens, 2 messages stay
// → budget: 46 tokens, 4 messages stay
// → budget: 69 tokens, 6 messages stay
// → budget: 91 tokens, 6 messages stay
// → budget: 92 tokens, 6 messages stay
// → budget: 91 tokens, 6 messages stay

// 4. Memory outside: what was found is kept, how it was found is forgotten.
const notes: Record<string, string> = {};
await using researcher = new Client({ model });
for (const task of tasks) {
  notes[task] = await ask(researcher, task);
  researcher.messageHistory = [];
}
console.log("memory:", await ask(researcher, `Sum up these notes: ${JSON.stringify(notes)}`));
// → memory: Done, with 1 messages before my eyes.
