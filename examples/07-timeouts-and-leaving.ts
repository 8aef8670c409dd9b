// Time limits and leaving early: nothing blocks a run, and the agent stays usable
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, Turn, tool } from "rondo";
import { TurnTimeoutError } from "rondo/errors";

const wait = tool(
  { name: "wait", description: "Wait.", input: { forMs: Number } },
  async ({ forMs }, { signal }) => {
    await sleep(forMs, undefined, { signal }); // passing the signal on makes it stop at once
    return `waited ${forMs} ms`;
  },
);
const tick = tool({ name: "tick", description: "Tick forever." }, async function* () {
  try {
    for (let number = 1; ; number += 1) yield number;
  } finally {
    console.log("the clock is put away");
  }
});

const agent = new Agent({ name: "patient", tools: [wait, tick] });
agent.onComplete(async (turn, stopReason) => console.log(`${turn.tool.name}: ${stopReason}`));

// A time limit. The failed turn is dropped, the rest stays queued.
await agent.put(new Turn(wait, { forMs: 60_000 }, { timeoutMs: 20 }));
await agent.put(new Turn(tick));
try {
  for await (const [, value] of agent.run()) console.log(value);
} catch (error) {
  if (!(error instanceof TurnTimeoutError)) throw error;
  console.log(`too slow for ${error.timeoutMs} ms, ${agent.turns.length} turn left`);
}
// → wait: timeout
// → too slow for 20 ms, 1 turn left

// Leaving the loop. The tool stops and cleans up before the next line runs.
for await (const [, value] of agent.run()) if (value === 3) break;
console.log(`running: ${agent.isRunning}`);
// → the clock is put away
// → tick: cancelled
// → running: false

// An abort from outside ends a run with the signal's reason.
await agent.put(new Turn(wait, { forMs: 60_000 }));
const run = agent.run({ signal: AbortSignal.timeout(20) });
await run.next().catch((error: Error) => console.log(error.name));
// → wait: cancelled
// → TimeoutError
