// What a sandbox on this machine costs: starts, calls, many containers at once, and what passes the limit of the disk.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  bwrap,
  type Container,
  ContainerPool,
  type Interpreter,
  openInterpreter,
  type Sandbox,
} from "rondo/sandbox";
import { median } from "../statistics.ts";

export interface SandboxResults {
  readonly processMs: number;
  readonly pythonMs: number;
  readonly javascriptMs: number;
  readonly warmMs: number;
  readonly callMs: number;
  readonly bareCallMs: number;
  readonly containers: number;
  readonly allMs: number;
  readonly memoryBytes: number;
  readonly overshootBytes: number;
  readonly overshootFiles: number;
}

const starts = 15;
const calls = 300;

export async function measureSandbox(
  containers: number,
  onProgress: (text: string) => void,
): Promise<SandboxResults> {
  const folder = mkdtempSync(join(tmpdir(), "rondo-bench-"));
  chmodSync(folder, 0o711);
  const sandbox = bwrap({ folder: join(folder, "sandbox") });
  try {
    const check = await sandbox.check();
    if (!check.isAvailable) throw new Error(check.probes.map(({ detail }) => detail).join(" "));
    onProgress("cold starts");
    const processMs = await medianOf(starts, () => withContainer(sandbox, runTrue));
    const pythonMs = await medianOf(starts, () =>
      withContainer(sandbox, (one, startMs) => firstCall(one, "python", startMs)),
    );
    const javascriptMs = await medianOf(starts, () =>
      withContainer(sandbox, (one, startMs) => firstCall(one, "javascript", startMs)),
    );
    onProgress("warm starts");
    const warmMs = await measureWarm(sandbox);
    onProgress("calls");
    const callMs = await withContainer(sandbox, async (one) => {
      const interpreter = await openInterpreter(one);
      return medianOf(calls, () => timed(() => onePlusOne(interpreter)));
    });
    const bareCallMs = await measureBareCalls();
    onProgress(`${containers} containers at once`);
    const many = await measureMany(sandbox, containers);
    onProgress("the limit of the disk");
    const overshootBytes = await measureOvershoot(sandbox, writeFast);
    const overshootFiles = await measureOvershoot(sandbox, makeFiles);
    return {
      processMs,
      pythonMs,
      javascriptMs,
      warmMs,
      callMs,
      bareCallMs,
      containers,
      ...many,
      overshootBytes,
      overshootFiles,
    };
  } finally {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The time of `use`, which counts from before the container is opened. */
async function withContainer<T>(
  sandbox: Sandbox,
  use: (container: Container, startMs: number) => Promise<T>,
) {
  const startMs = performance.now();
  const container = await sandbox.open({ isTemporary: true });
  try {
    return await use(container, startMs);
  } finally {
    await container.close();
  }
}

async function runTrue(container: Container, startMs: number): Promise<number> {
  const execution = await container.exec({ command: ["true"] });
  await execution.outcome;
  return performance.now() - startMs;
}

async function firstCall(
  container: Container,
  language: "python" | "javascript",
  startMs = performance.now(),
) {
  const interpreter = await openInterpreter(container, { language });
  await onePlusOne(interpreter);
  return performance.now() - startMs;
}

async function measureWarm(sandbox: Sandbox): Promise<number> {
  const pool = new ContainerPool({ sandbox });
  try {
    return await medianOf(starts, async () => {
      await pool.fill();
      const startMs = performance.now();
      const { container, interpreter } = await pool.take();
      await onePlusOne(interpreter);
      const ms = performance.now() - startMs;
      await container.close();
      return ms;
    });
  } finally {
    await pool.close();
  }
}

async function onePlusOne(interpreter: Interpreter): Promise<void> {
  const { type } = await interpreter.run("1 + 1").outcome;
  if (type !== "done") throw new Error(`1 + 1 ended with ${type}.`);
}

/** Python itself, without a sandbox or a driver: a line in, a line out. */
async function measureBareCalls(): Promise<number> {
  const program = "import sys\nfor line in sys.stdin: print(eval(line), flush=True)";
  const python = spawn("/usr/bin/python3", ["-c", program], { stdio: ["pipe", "pipe", "inherit"] });
  const ms = await medianOf(calls, () =>
    timed(async () => {
      python.stdin.write("1 + 1\n");
      await once(python.stdout, "data");
    }),
  );
  python.kill();
  return ms;
}

async function measureMany(sandbox: Sandbox, count: number): Promise<{ allMs: number; memoryBytes: number }> {
  const startMs = performance.now();
  const opened = await Promise.all(
    Array.from({ length: count }, async () => {
      const container = await sandbox.open({ isTemporary: true });
      await onePlusOne(await openInterpreter(container));
      return container;
    }),
  );
  const allMs = performance.now() - startMs;
  const memoryBytes = memoryBelow(process.pid) / count;
  await Promise.all(opened.map((container) => container.close()));
  return { allMs, memoryBytes };
}

/** The memory of the processes below this one; what several share is divided among them. */
function memoryBelow(pid: number): number {
  let bytes = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim();
    for (const child of children === "" ? [] : children.split(" ")) {
      const rollup = readFileSync(`/proc/${child}/smaps_rollup`, "utf8");
      bytes += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) * 1024 + memoryBelow(Number(child));
    }
  }
  return bytes;
}

const limits = { diskBytes: 64 * 1024 * 1024, files: 1000 };

/** How far the code came, which it writes to its output, beyond what it may. */
async function measureOvershoot(sandbox: Sandbox, { code, limit }: typeof writeFast): Promise<number> {
  const container = await sandbox.open({ isTemporary: true, limits: { ...limits, outputBytes: 10_000_000 } });
  const execution = await container.exec({ command: ["python3", "-u", "-c", code] });
  let text = "";
  for await (const { bytes } of execution) text += Buffer.from(bytes).toString();
  const { type } = await execution.outcome;
  if (type !== "disk") throw new Error(`A flood of files ended with ${type}.`);
  await container.close();
  return Number(text.trimEnd().split("\n").at(-1)) - limit;
}

const writeFast = {
  code: "data = bytes(2**20)\nn = 0\nwhile True:\n  with open(f'f{n % 50}', 'ab') as f: f.write(data)\n  n += 1\n  print(n * 2**20)",
  limit: limits.diskBytes,
};
const makeFiles = {
  code: "n = 0\nwhile True:\n  open(f'f{n}', 'wb').close()\n  n += 1\n  if n % 50 == 0: print(n)",
  limit: limits.files,
};

async function timed(action: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await action();
  return performance.now() - startMs;
}

async function medianOf(count: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let index = 0; index < count; index++) values.push(await measure());
  return median(values);
}
