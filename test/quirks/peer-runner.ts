// Other clients, in a separate process. They are installed only on request.

import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Outcome } from "./outcome.ts";
import { type CaseRunner, withoutLastWords } from "./run-case.ts";

const folder = fileURLToPath(new URL("../../bench/quirks/peers", import.meta.url));
const peerNames = ["ai-sdk", "openai-agents", "langchain"] as const;
/** A client that has not finished by then is stuck. Longer than any of their retry delays. */
const maxMs = 12_000;

export interface Peers extends Disposable {
  readonly runners: ReadonlyMap<string, CaseRunner>;
}

/** Installs the other clients if necessary, and starts them. */
export async function startPeers(): Promise<Peers> {
  if (!existsSync(`${folder}/node_modules`)) install();
  let child = await start();
  const runnerOf =
    (peer: string): CaseRunner =>
    async ({ leave, idleTimeoutMs, timeoutMs }, url) => {
      const outcome = await ask(child, { peer, url, leave, limits: { idleTimeoutMs, timeoutMs } });
      if (outcome) return { ...outcome, text: withoutLastWords(outcome.text), isOther: true };
      child.kill();
      child = await start();
      return {
        text: "",
        ran: [],
        error: { message: `did not end within ${maxMs} ms` },
        isOther: true,
        isStuck: true,
      };
    };
  return {
    runners: new Map(peerNames.map((name) => [name, runnerOf(name)])),
    [Symbol.dispose]: () => void child.kill(),
  };
}

function install(): void {
  console.log("Installing the other clients …\n");
  const { status } = spawnSync("npm ci --ignore-scripts --no-audit --no-fund --loglevel=error", {
    cwd: folder,
    shell: true,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`The other clients could not be installed in ${folder}.`);
}

async function start(): Promise<ChildProcess> {
  const child = fork("run.mjs", { cwd: folder, stdio: ["ignore", "ignore", "ignore", "ipc"], execArgv: [] });
  await once(child, "message");
  return child;
}

/** Undefined after a timeout. */
async function ask(child: ChildProcess, task: object): Promise<Outcome | undefined> {
  child.send(task);
  try {
    const [{ outcome }] = (await once(child, "message", { signal: AbortSignal.timeout(maxMs) })) as [
      { outcome: Outcome },
    ];
    return outcome;
  } catch {
    return undefined;
  }
}
