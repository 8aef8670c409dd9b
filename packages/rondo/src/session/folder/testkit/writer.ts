// Appends entries to a session until it is killed. Prints the number of each entry that is kept.
import { folderSessions } from "../folder-sessions.ts";

const [folder = "", id = "", from = "0"] = process.argv.slice(2);
const store = folderSessions(folder);
await using _ = await store.lock(id);
for (let number = Number(from); ; number++) {
  // Long enough that a write can be cut off.
  const message = { role: "user", content: `${number} ${"x".repeat((number % 7) * 100_000)}` } as const;
  const start = { type: "session", version: 1, id, createdAt: new Date().toISOString() } as const;
  await store.append(id, [...(number === 0 ? [start] : []), { type: "message", message }]);
  process.stdout.write(`${number}\n`);
}
