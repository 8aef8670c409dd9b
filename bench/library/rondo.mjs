// This project, as built for users.
import { Client, openaiCompatible, tool } from "rondo";

export function contender(url, onCall, { history, moreTools = [] } = {}) {
  const model = openaiCompatible({ baseURL: url, model: "bench" });
  const add = tool("add", "Add two numbers.", { a: Number, b: Number }, async ({ a, b }) => {
    onCall();
    return a + b;
  });
  const others = moreTools.map(({ function: { name, description, parameters: input } }) =>
    tool({ name, description, input, registry: false }, async () => "done"),
  );
  return async (prompt) => {
    const outcome = { text: "", thinking: "", deltas: 0 };
    await using client = new Client({
      model,
      tools: [add, ...others],
      autoExecuteTools: true,
      maxToolIterations: 1000,
    });
    if (history) client.messageHistory = history;
    await client.query(prompt);
    for await (const block of client.receiveMessages()) {
      if (block.type === "thinking") outcome.thinking += block.thinking;
      if (block.type !== "text") continue;
      outcome.text += block.text;
      outcome.deltas++;
    }
    return outcome;
  };
}
