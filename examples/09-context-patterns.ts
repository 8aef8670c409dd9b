// Four ways to keep a conversation small: nothing is ever truncated silently
import { Client } from "rondo";
import { estimateTokens, truncateMessages, truncateToBudget } from "rondo/budget";
import { scriptedModel } from "rondo/testing";

// Scripted, so that this runs anywhere. For a real model: const model = ollama("qwen3:8b");
const model = scriptedModel(({ messages }) => `Done, with ${messages.length} messages in context.`);
const tasks = ["Check the title.", "Check the first chapter.", "Check the index."];

async function ask(client: Client, prompt: string): Promise<string> {
  await client.query(prompt);
  for await (const _ of client.receiveMessages());
  return client.result?.text ?? "";
}

// 1. Stateless: a new client for each task.
for (const task of tasks) {
  await using client = new Client({ model });
  console.log("stateless:", await ask(client, task));
}
// → stateless: Done, with 1 messages in context.
// → stateless: Done, with 1 messages in context.
// → stateless: Done, with 1 messages in context.

// 2. Truncation: at a natural break, only the last messages stay.
await using editor = new Client({ model });
for (const task of tasks) {
  console.log("truncation:", await ask(editor, task));
  editor.messageHistory = truncateMessages(editor.history, { keep: 2 });
}
// → truncation: Done, with 1 messages in context.
// → truncation: Done, with 3 messages in context.
// → truncation: Done, with 3 messages in context.

// 3. Budget: a conversation that is too large loses its oldest prompts, each with its calls, results and answer.
await using guest = new Client({ model });
for (const task of [...tasks, ...tasks]) {
  await ask(guest, task);
  const tokens = estimateTokens(guest.history);
  if (tokens > 80) guest.messageHistory = truncateToBudget(guest.history, { maxTokens: 80 });
  console.log(`budget: ${tokens} tokens, ${guest.messageHistory.length} messages stay`);
}
// → budget: 22 tokens, 2 messages stay
// → budget: 45 tokens, 4 messages stay
// → budget: 66 tokens, 6 messages stay
// → budget: 88 tokens, 6 messages stay
// → budget: 89 tokens, 6 messages stay
// → budget: 88 tokens, 6 messages stay

// 4. External memory: the findings are kept, the conversation is not.
const notes: Record<string, string> = {};
await using researcher = new Client({ model });
for (const task of tasks) {
  notes[task] = await ask(researcher, task);
  researcher.messageHistory = [];
}
console.log("memory:", await ask(researcher, `Sum up these notes: ${JSON.stringify(notes)}`));
// → memory: Done, with 1 messages in context.
