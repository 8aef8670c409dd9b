// Asks a model whose call runs a tool that never ends. Prints the id of the session when the tool runs.
import { Client, tool } from "../../index.ts";
import { folderSessions } from "../../sessions.ts";

const [folder = "", baseURL = ""] = process.argv.slice(2);
const add = tool("add", "Add two numbers.", { a: Number, b: Number }, async () => {
  process.stdout.write(`${client.sessionId}\n`);
  await new Promise((done) => setTimeout(done, 60_000));
  return 0;
});
const client = new Client({
  baseURL,
  model: "test",
  tools: [add],
  autoExecuteTools: true,
  sessionStore: folderSessions(folder),
});
await client.query("Add");
for await (const _ of client.receiveMessages());
