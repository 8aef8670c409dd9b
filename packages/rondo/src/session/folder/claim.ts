// A lock between processes of one machine, which those that died do not hold.
//
// Each owner puts a claim of its own into a folder, and then looks for other claims. The name of a claim says which
// process made it, so that it is complete as soon as it exists, and anyone may remove the claim of a dead process: no
// living one ever has the same name. Two that claim at the same moment may both see the other, and both try again.

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, open, readdir, rm, rmdir } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const attempts = 10;
const longestPauseMs = 20;

/** The process that holds a lock. */
export interface ClaimOwner {
  readonly pid: number;
  readonly host: string;
}

/** Claims a folder; gives the other owner if there is a living one. */
export async function claim(folder: string): Promise<AsyncDisposable | ClaimOwner> {
  const name = [process.pid, startOf(process.pid) ?? "", thisHost, randomUUID()].join("~");
  const file = join(folder, name);
  let other: ClaimOwner | undefined;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await delay(Math.random() * longestPauseMs);
    if (!(await create(folder, file))) continue;
    other = await livingOwner(folder, name);
    if (!other) return { [Symbol.asyncDispose]: () => release(folder, file) };
    await release(folder, file);
  }
  if (other) return other;
  throw new Error(`The folder ${folder} could not be locked: it is removed again and again.`);
}

/** Whether the claim was made; not if another owner has just removed the folder with its own. */
async function create(folder: string, file: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await (await open(file, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** The owner of another claim, if it lives. Claims of dead ones are removed. */
async function livingOwner(folder: string, own: string): Promise<ClaimOwner | undefined> {
  for (const name of await readdir(folder)) {
    const [pid, start, host] = name.split("~");
    if (name === own || pid === undefined || host === undefined) continue;
    // Processes of other machines cannot be seen.
    if (host !== thisHost || isAlive(Number(pid), start ?? ""))
      return { pid: Number(pid), host: decoded(host) };
    await rm(join(folder, name), { force: true });
  }
  return undefined;
}

/** Names are cut at a limit, maybe inside an escape, and anything can be in a folder. */
function decoded(host: string): string {
  try {
    return decodeURIComponent(host);
  } catch {
    return host;
  }
}

async function release(folder: string, file: string): Promise<void> {
  await rm(file, { force: true });
  await rmdir(folder).catch(() => {}); // another owner may have come
}

const thisHost = encodeURIComponent(hostname()).slice(0, 100);

function isAlive(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is another user's.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = startOf(pid);
  // Process ids are used again, in containers at once.
  return now === undefined || start === "" || now === start;
}

/** When a process started, in ticks since boot; undefined where the system does not say. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the program is in parentheses, and may contain anything.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
