// The runsc tier passes the tests of all tiers, where gVisor is installed.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { findProgram } from "../bwrap/host.ts";
import { readExecution } from "../read-execution.ts";
import { describeSandbox } from "../testing/sandbox-suite.ts";
import { runsc } from "./runsc.ts";

const reason = whyNot();
const folder = mkdtempSync(join(tmpdir(), "rondo-runsc-"));
// Users of containers pass through it.
chmodSync(folder, 0o711);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function whyNot(): string | undefined {
  if (findProgram("runsc") === undefined) return "runsc is not installed";
  return process.getuid?.() === 0 ? undefined : "runsc needs root";
}

describe.skipIf(reason !== undefined)(`gVisor${reason === undefined ? "" : ` (${reason})`}`, () => {
  describeSandbox("runsc", {
    runner: { describe, test, afterAll },
    open: () => runsc({ folder: join(folder, "suite") }),
    languages: existsSync("/usr/bin/python3") ? ["python", "javascript"] : ["javascript"],
    // gVisor has some of these itself: they are those of its kernel, which is a process of this machine.
    exceptions: {
      io_uring: "a part of gVisor's kernel",
      ptrace: "of its own processes, under gVisor's kernel",
      user_namespace: "of gVisor's kernel",
      devices: "/dev/fuse of gVisor's kernel",
      kernel_log: "a made-up log of gVisor's kernel",
    },
  });

  test("a container with an allow-list reaches those hosts through the proxy, and nothing else", async () => {
    const server = createServer((_request, reply) => reply.end("reached")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const allowed = `allowed.test:${port}`;
    const egress = { allowPrivate: [allowed], resolve: async () => [{ address: "127.0.0.1" }] };
    const sandbox = runsc({ folder: join(folder, "network"), egress });
    const container = await sandbox.open({
      isTemporary: true,
      network: { allow: [allowed, `private.test:${port}`] },
    });
    const program = `(async () => {
      for (const url of ["http://allowed.test:${port}", "http://private.test:${port}", "http://other.test:${port}"])
        console.log(await fetch(url).then((reply) => reply.text(), () => "refused"));
      require("node:net").connect(${port}, "127.0.0.1").on("error", (error) => console.log(error.code));
    })()`;
    const { stdout } = await readExecution(await container.exec({ command: ["node", "--eval", program] }));
    expect(stdout.replaceAll(/Host.*\n/g, "refused")).toBe("reached\nrefused\nrefused\nECONNREFUSED\n");
    // The threads of gVisor and of the way out do not count as the code's.
    const commands = "mount | grep data; env | sort; for i in 1 2 3 4 5 6 7 8; do id | cat; done";
    const { outcome } = await readExecution(await container.exec({ command: ["sh", "-c", commands] }));
    expect(outcome).toEqual({ type: "exit", code: 0 });
    await sandbox.close();
    server.close();
  });

  test("after kill -9 of the server there is no process, group or temporary file, but the lasting files", async () => {
    const state = join(folder, "doomed");
    const program = fileURLToPath(new URL("../testkit/doomed-server.ts", import.meta.url));
    const args = ["--conditions=rondo-source", program, state, "marker", "runsc"];
    const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    await once(server.stdout, "data");
    const groups = () => globSync(`/sys/fs/cgroup/**/rondo-sandbox-${server.pid}-*`);
    expect(processesOf(state).length).toBeGreaterThan(3);
    expect(groups()).not.toEqual([]);
    server.kill("SIGKILL");
    await expect
      .poll(() => [processesOf(state), groups(), readdirSync(state)], { timeout: 20_000 })
      .toEqual([[], [], ["containers"]]);
    const restarted = runsc({ folder: state });
    const container = await restarted.open({ id: "lasting" });
    expect((await readExecution(await container.exec({ command: ["cat", "kept"] }))).stdout).toBe("kept");
    await restarted.close();
  });
});

test("it refuses with what to do where runsc is missing or does not work", async () => {
  const missing = runsc({ folder, program: "/no/such/runsc" });
  await expect(missing.open({})).rejects.toThrow(/runsc is not installed.*gvisor\.dev/);
  if (reason !== undefined) return;
  const broken = runsc({ folder: join(folder, "broken"), program: "/bin/false" });
  await expect(broken.open({})).rejects.toThrow(/Try another platform/);
  await Promise.all([missing.close(), broken.close()]);
});

/** Processes of gVisor, by the folder in their command line. */
function processesOf(state: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return (
        /^\d+$/.test(pid) &&
        line.includes(state) &&
        !line.includes("doomed-server") &&
        !line.includes("janitor")
      );
    } catch {
      return false;
    }
  });
}
