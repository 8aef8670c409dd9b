// The trial by kills: clients keep a server busy with runs, the server is killed again and again, and at the end
// everything that it has kept and told must fit together.

import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { auditFlaws } from "./audit-flaws.ts";
import { Clients } from "./clients.ts";
import { killMoment, Signs } from "./kill-moment.ts";
import { random } from "./random.ts";
import { type Figures, review } from "./review.ts";
import { ServerProcess } from "./server-process.ts";
import { startStoryModel } from "./story-model.ts";

export interface KillTrialOptions {
  /** Where the server's files are. */
  readonly folder: string;
  readonly seed: number;
  readonly kills: number;
  /** Told after each kill: how many there were, and how many runs have ended. */
  readonly onKill?: (kills: number, runs: number) => void;
}

export interface KillReport {
  /** What is wrong; nothing if all is well. */
  readonly flaws: readonly string[];
  readonly figures: Figures & {
    readonly kills: number;
    readonly connections: number;
    /** Calls that began and have no outcome in the audit log. */
    readonly unfinishedCalls: number;
  };
}

const clientCount = 6;
/** A sign that does not come is not waited for any longer. */
const mostWaitMs = 3000;

/** Throws when the server ends by itself, or breaks a connection without being killed. */
export async function runKillTrial({ folder, seed, kills, onKill }: KillTrialOptions): Promise<KillReport> {
  await using model = await startStoryModel();
  const auditFile = join(folder, "audit.jsonl");
  await using server = new ServerProcess({ folder, modelUrl: model.url, env: { RONDO_AUDIT: auditFile } });
  const signs = new Signs();
  server.onEffect = ({ type }) => signs.tell(`tool.${type}`);
  // The sources are compiled once; a process that is killed leaves nothing of that behind.
  await server.start();
  await server.terminate();

  const clients = new Clients({ server, seed, count: clientCount, onFrame: () => signs.tell("frame") });
  const chance = random(seed);
  for (let index = 0; index < kills; index++) {
    const moment = killMoment(index, chance);
    const life = server.start();
    if (moment.type === "starting") await Promise.race([life, wait(moment.ms)]);
    else {
      await life;
      const reached =
        moment.type === "serving" ? wait(moment.ms) : signs.next(moment.type, moment.count, mostWaitMs);
      await Promise.race([reached, clients.ended]);
    }
    await server.kill();
    await life;
    onKill?.(index + 1, clients.followed.length);
  }
  clients.stop();
  const life = await server.start();
  if (!life) throw new Error("The server was killed, but not by this trial.");
  await clients.ended;

  const { followed, foreground } = clients;
  const { url } = life;
  const effects = server.effects();
  const result = await review({ url, followed, foreground, effects, model });
  const audit = await auditFlaws(auditFile, { url, effects, kills });
  const connections = [...followed, ...foreground].reduce((sum, it) => sum + it.connectionCount, 0);
  const complaints = server.complaints.split("\n").filter((line) => line && !line.startsWith("Stopping:"));
  return {
    flaws: [
      ...result.flaws,
      ...audit.flaws,
      ...complaints.map((line) => `the server has complained: ${line}`),
    ],
    figures: { kills, connections, unfinishedCalls: audit.unfinishedCalls, ...result.figures },
  };
}
