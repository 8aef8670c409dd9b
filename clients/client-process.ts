// A client as a process: with a home folder of its own, no proxy, a time limit, and its whole process group ended.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface ProcessOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly timeoutMs: number;
}

const maxOutput = 200_000;

/** Runs it to its end, and gives what it printed. Throws if it fails or takes too long. */
export async function runClient(options: ProcessOptions): Promise<string> {
  using running = start(options);
  running.child.stdin.end();
  return await running.ended;
}

interface Running extends Disposable {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it printed; rejects if it fails. */
  readonly ended: Promise<string>;
}

function start({ program, args, env, cwd, timeoutMs }: ProcessOptions): Running {
  const child = spawn(program, args, { cwd, env, detached: true });
  let output = "";
  const keep = (data: Buffer) => {
    output = (output + data.toString()).slice(-maxOutput);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It is gone.
    }
  };
  const { promise: ended, resolve, reject } = Promise.withResolvers<string>();
  ended.catch(() => {});
  const timer = setTimeout(() => {
    reject(new Error(`took longer than ${timeoutMs / 1000} s: ${lastLine(output)}`));
    end();
  }, timeoutMs);
  child.on("error", reject);
  child.on("close", (code) => {
    clearTimeout(timer);
    if (code === 0) resolve(output);
    else reject(new Error(`ended with the code ${code}: ${lastLine(output)}`));
  });
  return {
    child,
    ended,
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      end();
    },
  };
}

/** Sends prompts to one process over the Agent Client Protocol, and allows whatever it asks for. */
export async function runAcpClient(options: ProcessOptions, prompts: readonly string[]): Promise<void> {
  using running = start(options);
  const { child, ended } = running;
  const waiting = new Map<number, (message: AcpMessage) => void>();
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = readMessage(line);
    if (message?.method === undefined) waiting.get(message?.id ?? -1)?.(message ?? {});
    else if (message.method === "session/request_permission")
      send({
        id: message.id,
        result: {
          outcome: { outcome: "selected", optionId: message.params?.options?.[0]?.optionId },
        },
      });
    else if (message.id !== undefined)
      send({ id: message.id, error: { code: -32_601, message: "Not supported." } });
  });
  let asked = 0;
  const call = async (method: string, params: object): Promise<AcpMessage["result"]> => {
    asked += 1;
    const { promise, resolve } = Promise.withResolvers<AcpMessage>();
    waiting.set(asked, resolve);
    send({ id: asked, method, params });
    const answer = await Promise.race([promise, ended.then((): AcpMessage => ({ error: "it ended" }))]);
    if (answer.error !== undefined)
      throw new Error(`${method}: ${JSON.stringify(answer.error).slice(0, 300)}`);
    return answer.result;
  };
  await call("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const session = await call("session/new", { cwd: options.cwd, mcpServers: [] });
  for (const text of prompts)
    await call("session/prompt", { sessionId: session?.sessionId, prompt: [{ type: "text", text }] });
}

interface AcpMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly options?: readonly { readonly optionId: string }[] };
  readonly result?: { readonly sessionId?: string };
  readonly error?: unknown;
}

function readMessage(line: string): AcpMessage | undefined {
  try {
    return JSON.parse(line) as AcpMessage;
  } catch {
    return undefined; // a line of its log
  }
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1)?.slice(0, 200) ?? "";
}
