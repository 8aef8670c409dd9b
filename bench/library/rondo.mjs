// This project, as it is built for users.
import { Client, openaiCompatible, tool } from "rondo";

export function contender(url) {
  const model = openaiCompatible({ baseURL: url, model: "bench" });
  return async (prompt) => {
    const outcome = { text: "", pieces: 0, calls: 0 };
    const add = tool("add", "Add two numbers.", { a: Number, b: Number }, async ({ a, b }) => {
      outcome.calls++;
      return a + b;
    });
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
      outcome.pieces++;
    }
    return outcome;
  };
}
