// The program that each runtime runs, against a model server on loopback: tools, a client, an agent, leaving a stream.
import { Agent, Client, query, Turn, tool } from "rondo";

/** Gives what went wrong; nothing if all is well. */
export async function program(baseURL) {
  const problems = [];
  const expect = (what, actual, expected) => {
    const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (one !== other) problems.push(`${what}: expected ${other}, got ${one}`);
  };
  const add = tool("add", "Add two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);
  const count = tool("count", "Count.", { to: Number }, async function* ({ to }) {
    for (let n = 1; n <= to; n += 1) yield n;
  });
  const options = { baseURL, model: "test", tools: [add], autoExecuteTools: true };

  const client = new Client(options); // not `using`: not every runtime can parse it
  await client.query("What is 25 + 17?");
  const blocks = [];
  for await (const block of client.receiveMessages()) blocks.push(block.type);
  expect("the blocks of a client", blocks, ["tool_use", "tool_result", "text"]);
  expect("its result", client.result?.text, "It is 42.");

  const { text } = await query({ prompt: "What is 25 + 17?", options }).result();
  expect("the result of a query", text, "It is 42.");

  const agent = new Agent({ name: "worker", tools: [add, count], registry: false });
  await agent.put(new Turn(count, { to: 3 }));
  await agent.put(new Turn(add, { a: 1, b: 2 }));
  const values = [];
  for await (const [, value] of agent.run()) values.push(value);
  expect("the values of an agent", values, [1, 2, 3, 3]);

  const left = new Turn(count, { to: 1000 });
  for await (const value of left.yielding()) if (value === 2) break;
  expect("a stream that is left", [left.stopReason, left.output], ["cancelled", [1, 2]]);
  return problems;
}
