// Asks once in a new session, without naming a store. Prints the id of the session.
import { query } from "../../index.ts";
import { scriptedModel } from "../../testing/index.ts";

const asked = query({ prompt: "Hi", options: { model: scriptedModel("Hello."), session: "new" } });
await asked.result();
process.stdout.write(`${asked.sessionId}\n`);
