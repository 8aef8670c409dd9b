// A program that writes to a store as fast as it can, and says on its output what was acknowledged, until it is
// killed. Each commit of a run adds one event and one item.

import { sqliteStore } from "../sqlite/sqlite-store.ts";
import { events, message, newResponse, output } from "../testing/build.ts";

const [path = "", round = "0"] = process.argv.slice(2);
const store = sqliteStore({ path });

async function run(id: string): Promise<never> {
  const lease = await store.create(newResponse(id), "worker-1", 30_000);
  for (let n = 0; ; n++) {
    await store.commit(lease, {
      events: events(n, n),
      output: [output(n, message(`${id}_${n}`))],
      isDurable: n % 10 === 0,
    });
    process.stdout.write(`${id} ${n}\n`);
  }
}

await Promise.all(["a", "b", "c", "d"].map((name) => run(`${name}${round}`)));
