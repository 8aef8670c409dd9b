// A process that a run blocks in one way or another, with a watchdog. Says "done" if it gets to its end.

import { execFileSync } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { inRun } from "../../current-run.ts";
import { startWatchdog } from "../watchdog.ts";

const [way, notePath] = process.argv.slice(2);
const stop = startWatchdog({ blockedMs: 1000, notePath });

function blockFor(ms: number): void {
  for (const end = Date.now() + ms; Date.now() < end; );
}

void inRun("resp_beside", () => new Promise<void>(() => {}));
if (way === "later") await wait(500);
await inRun("resp_blocked", async () => {
  if (way === "slow")
    for (let n = 0; n < 10; n += 1) {
      blockFor(300);
      await wait(1);
    }
  else if (way === "native") {
    await wait(500); // it has been seen at work by then
    execFileSync("sleep", ["30"]);
  } else if (way === "in microtasks") {
    await wait(500); // it has been seen at work by then
    const again = () => queueMicrotask(again);
    again();
    await new Promise(() => {});
  } else blockFor(30_000);
});
process.stdout.write("done");
await stop();
process.exit();
