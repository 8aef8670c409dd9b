// A process with a store of its own, for tests that kill or freeze it: `node node-process.ts URL`. It begins a response,
// holds its lease, says `begun`, and writes an event whenever it gets a line; it says what became of each.

import { createInterface } from "node:readline";
import { newResponse, write } from "../../testing/build.ts";
import { postgresStore } from "../open.ts";

const [url = "", id = ""] = process.argv.slice(2);
const store = await postgresStore({ url, beatMs: 200, deadAfterMs: 2000 });
const lease = await store.create(newResponse(id), "doomed", 60_000);
console.log("begun");
let sequence = 0;
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "close") break;
  const [outcome] = await Promise.allSettled([
    store.commit(lease, write({ events: [{ sequence, data: `{"n":${sequence}}` }] })),
  ]);
  if (outcome.status === "fulfilled") sequence += 1;
  const code = outcome.status === "fulfilled" ? "written" : (outcome.reason as { code?: string }).code;
  console.log(code ?? "failed");
}
await store.close();
console.log("closed");
process.stdin.destroy();
