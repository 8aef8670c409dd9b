// A locked tool: concurrent turns run one after the other
import { setTimeout as sleep } from "node:timers/promises";
import { tool } from "rondo";

const accounts = { open: 0, locked: 0 };

/** Reads, waits, writes: a race, because a concurrent call reads a stale balance. */
async function addTo(account: keyof typeof accounts, amount: number): Promise<void> {
  const balance = accounts[account];
  await sleep(5);
  accounts[account] = balance + amount;
}

const pay = tool({ name: "pay", description: "Pay in.", input: { amount: Number } }, async ({ amount }) =>
  addTo("open", amount),
);

const payLocked = tool(
  { name: "pay_locked", description: "Pay in, one at a time.", input: { amount: Number }, lock: true },
  async ({ amount }) => addTo("locked", amount),
);

const amounts = [10, 20, 30];
await Promise.all(amounts.map((amount) => pay.execute({ amount })));
console.log(`without a lock: ${accounts.open}`); // → without a lock: 30

await Promise.all(amounts.map((amount) => payLocked.execute({ amount })));
console.log(`with a lock: ${accounts.locked}`); // → with a lock: 60

// A tool that waits for its own lock would wait forever. It gets an error at once.
const twice = tool(
  { name: "twice", description: "Calls itself.", lock: true },
  async (): Promise<unknown> => twice.execute(),
);
await twice.execute().catch((error: Error) => console.log(error.name)); // → SafeExecutionError
