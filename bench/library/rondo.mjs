// This project, as built for users.
import { Client, openaiCompatible, tool } from "rondo";

export function contender(url, onCall) {
  const model = openaiCompatible({ baseURL: url, model: "bench" });
  const add = tool("add", "Add two numbers.", { a: Number, b: Number }, async ({ a, b }) => {
    onCall();
    return a + b;
  });
  return async (prompt) => {
    const outcome = { text: "", deltas: 0 };
    await using client = new Client({
      model,
      tools: [add],
      autoExecuteTools: true,
      maxToolIterations: 1000,
    });
    await client.query(prompt);
    for await (const block of client.receiveMessages()) {
      if (block.type !== "text") continue;
      outcome.text += block.text;
      outcome.deltas++;
    }
    return outcome;
  };
}
