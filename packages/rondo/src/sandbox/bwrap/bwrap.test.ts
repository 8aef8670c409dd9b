// The bwrap tier passes the tests of all tiers, and leaves nothing behind however the server ends.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { openInterpreter } from "../interpreter/open-interpreter.ts";
import { readExecution } from "../read-execution.ts";
import type { Container } from "../sandbox.ts";
import { describeSandbox } from "../testing/sandbox-suite.ts";
import { bwrap } from "./bwrap.ts";
import { findProgram } from "./host.ts";

const hasBwrap = findProgram("bwrap") !== undefined;
const hasPython = existsSync("/usr/bin/python3");
const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), "rondo-bwrap-"));
// Users of containers pass through it, where this process is root.
chmodSync(folder, 0o711);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!hasBwrap)(
  `${hasBwrap ? "on" : "skipped, because bwrap is not installed on"} this machine`,
  () => {
    describeSandbox("bwrap", {
      runner: { describe, test, afterAll },
      open: () => bwrap({ folder: join(folder, "suite") }),
      languages: hasPython ? ["python", "javascript"] : ["javascript"],
    });

    describe("without control groups", () => {
      const sandbox = bwrap({ folder: join(folder, "plain"), usesCgroups: false });
      afterAll(() => sandbox.close());

      test.each([
        ["memory", { memoryBytes: 96 * 1024 * 1024 }, "for i in 1 2 3 4; do tail /dev/zero & done; wait"],
        ["processes", { processes: 20 }, "(while :; do sleep 1000 & done) & exec sleep 1000"],
      ] as const)("the limit '%s' holds, and check() says how", async (type, limits, line) => {
        const { isAvailable, probes } = await sandbox.check();
        expect(isAvailable).toBe(true);
        expect(probes.find(({ name }) => name === "cgroup")).toMatchObject({
          holds: false,
          isRequired: false,
        });
        const container = await sandbox.open({ isTemporary: true, limits });
        const { outcome } = await run(container, line);
        expect(outcome.type).toBe(type);
        await container.close();
      });

      test.skipIf(!hasPython)("memory that only a group would count cannot be had", async () => {
        const container = await sandbox.open({ isTemporary: true });
        const code = "import os; os.memfd_create('x')";
        const { stderr } = await readExecution(await container.exec({ command: ["python3", "-c", code] }));
        expect(stderr).toContain("Function not implemented");
        await container.close();
      });
    });

    describe("with small limits", () => {
      const limits = { diskBytes: 4_000_000, timeoutMs: 20_000 };
      const sandbox = bwrap({ folder: join(folder, "small"), limits });
      afterAll(() => sandbox.close());

      test.each([
        [
          "without a name, as long as a process has them open",
          "exec 3> a 4> b; rm a b; head -c 3000000 /dev/zero >&3; head -c 3000000 /dev/zero >&4; sleep 1000",
        ],
        [
          "at the end of a long path",
          "name=$(head -c 250 /dev/zero | tr '\\0' n); for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do mkdir $name; cd -P $name || exit; done; for i in 1 2 3; do head -c 3000000 /dev/zero > $i; done; sleep 1000",
        ],
        [
          "in a folder that is closed meanwhile",
          "mkdir closed; exec 3> closed/a 4> closed/b; chmod 0 closed; head -c 3000000 /dev/zero >&3; head -c 3000000 /dev/zero >&4; sleep 1000",
        ],
      ])("files count %s", async (_where, line) => {
        const container = await sandbox.open({ isTemporary: true });
        expect((await run(container, line)).outcome.type).toBe("disk");
        expect((await run(container, "echo fine > after && cat after")).stdout).toBe("fine\n");
        await container.close();
      });

      test("the disk is still limited after a container became a lasting one", async () => {
        const container = await sandbox.open({ isTemporary: true });
        const line =
          "echo started; read -r go; for i in 1 2 3; do head -c 3000000 /dev/zero > $i; done; sleep 1000";
        const execution = await container.exec({ command: ["sh", "-c", line], input: "open" });
        await execution[Symbol.asyncIterator]().next();
        await container.setRecord({ owner: "ann" });
        await execution.write(Buffer.from("go\n"));
        expect((await execution.outcome).type).toBe("disk");
        await sandbox.remove(container.id);
      });

      test("scripts can open their output by its path", async () => {
        const container = await sandbox.open({ isTemporary: true });
        const results = await Promise.all(
          [1, 2, 3].map(() => run(container, "echo out > /dev/stdout; echo error | tee /dev/stderr")),
        );
        const outcome = { type: "exit", code: 0 };
        for (const result of results)
          expect(result).toEqual({ stdout: "out\nerror\n", stderr: "error\n", outcome });
        await container.close();
      });

      test.skipIf(!hasPython)("a process that gave its output to another one ends nevertheless", async () => {
        const container = await sandbox.open({ isTemporary: true });
        const start = "import socket, time; s = socket.socket(socket.AF_UNIX);";
        const take = `${start} s.bind("s"); s.listen(); print("listens", flush=True); c, _ = s.accept(); m = socket.recv_fds(c, 9, 9); time.sleep(1000)`;
        const give = `${start} s.connect("s"); socket.send_fds(s, [b"x"], [1, 2]); print("given")`;
        const taker = await container.exec({ command: ["python3", "-c", take] });
        const outputs = taker[Symbol.asyncIterator]();
        await outputs.next();
        const given = await readExecution(await container.exec({ command: ["python3", "-c", give] }));
        expect(given).toEqual({ stdout: "given\n", stderr: "", outcome: { type: "exit", code: 0 } });
        await container.close();
      });

      test.skipIf(!hasPython)(
        "threads that flood the output between calls end their interpreter",
        async () => {
          const container = await sandbox.open({ isTemporary: true });
          const interpreter = await openInterpreter(container);
          const code =
            "import os, threading\ndef flood():\n  while True: os.write(1, bytes(65536))\nthreading.Thread(target=flood).start()";
          await interpreter.run(code).outcome;
          await until(() => !interpreter.isAlive);
          expect(await interpreter.run("1").outcome).toMatchObject({ type: "lost", isLost: true });
          await container.close();
        },
      );

      test("a process that is cancelled while it starts ends, and its command never runs", async () => {
        const container = await sandbox.open({ isTemporary: true });
        for (let attempt = 0; attempt < 25; attempt++) {
          const execution = await container.exec({ command: ["sleep", "1000"] });
          await delay(attempt / 4);
          execution.cancel();
          expect((await execution.outcome).type).toBe("cancelled");
        }
        await container.close();
      });
    });

    test("a container with an allow-list reaches those hosts through the proxy, and nothing else", async () => {
      const server = createServer((_request, reply) => reply.end("reached")).listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const sandbox = bwrap({
        folder: join(folder, "network"),
        egress: {
          allowPrivate: [`allowed.test:${port}`],
          resolve: async () => [{ address: "127.0.0.1", family: 4 }],
        },
      });
      const container = await sandbox.open({
        isTemporary: true,
        network: { allow: [`allowed.test:${port}`, `private.test:${port}`] },
      });
      const program = `
        for (const host of ["allowed.test", "private.test", "other.test"])
          await fetch("http://" + host + ":${port}").then(async (reply) => console.log(await reply.text()), () => console.log("refused"));
        require("node:net").connect(${port}, "127.0.0.1").on("connect", () => console.log("direct")).on("error", (error) => console.log(error.code));`;
      const command = ["node", "--eval", `(async () => {${program}})()`] as const;
      const { stdout, stderr } = await readExecution(await container.exec({ command }));
      expect([stdout, stderr]).toEqual(["reached\nrefused\nrefused\nECONNREFUSED\n", ""]);
      await sandbox.close();
      server.close();
    });

    test("after kill -9 of the server there is no process, group or temporary file, but the lasting files", async () => {
      const marker = `rondo-doomed-${process.pid}`;
      const state = join(folder, "doomed");
      const server = startDoomed(state, marker);
      await once(server.stdout as NodeJS.ReadableStream, "data");
      const prefix = `rondo-sandbox-${server.pid}-`;
      expect(processesWith(marker)).not.toEqual([]);
      expect(readdirSync(state).filter((name) => name.startsWith("temporary-"))).toHaveLength(1);
      expect(groupsOf(prefix).length > 0).toBe(isRoot);
      server.kill("SIGKILL");
      await until(
        () =>
          processesWith(marker).length === 0 &&
          groupsOf(prefix).length === 0 &&
          readdirSync(state).join() === "containers",
      );
      expect(mountsOf(state)).toEqual([]);
      const restarted = bwrap({ folder: state });
      const container = await restarted.open({ id: "lasting" });
      expect(container.isNew).toBe(false);
      expect((await run(container, "cat kept; ls")).stdout).toBe("keptkept\n");
      await restarted.close();
      expect(readdirSync(state)).toEqual(["containers"]);
    });

    test("after kill -9 while processes start, none is left in any state of its start", async () => {
      const marker = `rondo-starting-${process.pid}`;
      const state = join(folder, "starting");
      const program = `
        import { bwrap } from ${JSON.stringify(fileURLToPath(new URL("../index.ts", import.meta.url)))};
        const sandbox = bwrap({ folder: ${JSON.stringify(state)}, usesCgroups: false });
        const container = await sandbox.open({ isTemporary: true });
        for (let count = 0; count < 12; count++) {
          void container.exec({ command: ["sh", "-c", "trap '' INT TERM HUP; sleep 1000", ${JSON.stringify(marker)}] });
          await new Promise((resolve) => setTimeout(resolve, 4));
        }
        process.kill(process.pid, "SIGKILL");`;
      const args = ["--conditions=rondo-source", "--input-type=module", "--eval", program];
      const { signal } = spawnSync(process.execPath, args);
      expect(signal).toBe("SIGKILL");
      await until(() => processesWith(marker).length === 0 && readdirSync(state).join() === "containers");
    });

    test("it refuses with what to do where bwrap is missing, cannot make namespaces, or may not enter the folder", async () => {
      for (const [options, message] of [
        [{ folder, program: "/no/such/bwrap" }, "Install it: apt install bubblewrap"],
        [{ folder, program: "/bin/false" }, "Allow user namespaces"],
      ] as const) {
        const sandbox = bwrap(options);
        await expect(sandbox.open({})).rejects.toMatchObject({
          code: "sandbox_unavailable",
          message: expect.stringContaining(message),
        });
        await sandbox.close();
      }
    });

    test.skipIf(!isRoot)("root needs a folder that the users of containers may enter", async () => {
      const closed = join(folder, "closed");
      mkdirSync(closed, { mode: 0o700 });
      const sandbox = bwrap({ folder: join(closed, "sandbox") });
      await expect(sandbox.open({})).rejects.toThrow(`chmod o+x ${closed}`);
      await sandbox.close();
    });

    test.skipIf(!isRoot)(
      "it works for an ordinary user, and for root as another user of each container",
      async () => {
        const home = join(folder, "home");
        mkdirSync(home, { mode: 0o777 });
        chmodSync(home, 0o777);
        const program = `
      import { bwrap, readExecution } from ${JSON.stringify(fileURLToPath(new URL("../index.ts", import.meta.url)))};
      const sandbox = bwrap({ folder: ${JSON.stringify(join(home, "sandbox"))} });
      const container = await sandbox.open({ isTemporary: true });
      const { stdout, outcome } = await readExecution(await container.exec({ command: ["sh", "-c", "id -u; echo x > f; cat f"] }));
      console.log(JSON.stringify([process.getuid(), stdout, outcome]));
      await sandbox.close();`;
        const args = ["--conditions=rondo-source", "--input-type=module", "--eval", program];
        const { stdout, stderr } = spawnSync(process.execPath, args, {
          uid: 65_534,
          gid: 65_534,
          encoding: "utf8",
        });
        expect([stdout, stderr]).toEqual([
          `${JSON.stringify([65_534, "1000\nx\n", { type: "exit", code: 0 }])}\n`,
          "",
        ]);
      },
    );
  },
);

function startDoomed(state: string, marker: string): ChildProcess {
  const program = fileURLToPath(new URL("../testkit/doomed-server.ts", import.meta.url));
  return spawn(process.execPath, ["--conditions=rondo-source", program, state, marker], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function run(container: Container, line: string) {
  return readExecution(await container.exec({ command: ["sh", "-c", line] }));
}

/** Processes in a container, which have it in their command line; the program itself has it there too. */
function processesWith(marker: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const commandLine = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return commandLine.includes(marker) && !commandLine.includes("doomed-server");
    } catch {
      return false;
    }
  });
}

function groupsOf(prefix: string): string[] {
  return globSync(`/sys/fs/cgroup/**/${prefix}*`);
}

function mountsOf(path: string): string[] {
  return readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .filter((line) => line.includes(path));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(20);
}
