import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { type AuditFact, toLine } from "../../audit/fact.ts";
import { tempFolder } from "../../store/testkit/temp-folder.ts";
import { runCli } from "../program.ts";
import { type TestIoOptions, testIo } from "../testkit/test-io.ts";

const startMs = Date.UTC(2026, 10, 17, 9);

/** A log with a line a minute. */
function logOf(facts: readonly AuditFact[], boot = "a"): string {
  const source = { node: "gpu-1", boot };
  return facts
    .map((fact, at) => `${toLine(source, at + 1, new Date(startMs + at * 60_000), fact)}\n`)
    .join("");
}

const mail = { host: "local", label: "local", name: "send_mail" };
const log = logOf([
  { action: "server.started", pid: 7 },
  { action: "request.started", owner: "key:ada", route: "/v1/responses", method: "POST" },
  { action: "call.started", owner: "key:ada", responseId: "resp_1", callId: "c1", tool: mail },
  { action: "call.started", owner: "key:ada", responseId: "resp_1", callId: "c2", tool: mail },
  { action: "call.ended", owner: "key:ada", responseId: "resp_1", started: 3, outcome: "ok", tool: mail },
  { action: "deletion.started", owner: "jwt:me:bob", target: "resp_2" },
  { action: "deletion.ended", owner: "jwt:me:bob", started: 6, status: 200 },
]);

function folderWith(text: string) {
  const folder = tempFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const path = join(folder.path, "audit.jsonl");
  writeFileSync(path, text);
  return { folder: folder.path, path };
}

async function audit(args: readonly string[], options: TestIoOptions = {}) {
  const io = testIo(options);
  const exitCode = await runCli(["audit", ...args], io);
  return { exitCode, out: io.out, err: io.err };
}

const numbers = (out: string) =>
  out
    .split("\n")
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { n: number }).n);

test("shows the lines of a log for people, without what only programs need", async () => {
  const { path } = folderWith(log);
  const { exitCode, out, err } = await audit([path]);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
  expect(out.split("\n").slice(0, 3)).toEqual([
    "2026-11-17T09:00:00.000Z  -  server.started  pid=7",
    "2026-11-17T09:01:00.000Z  key:ada  request.started  route=/v1/responses  method=POST",
    "2026-11-17T09:02:00.000Z  key:ada  call.started  response_id=resp_1  call_id=c1  tool=local/send_mail",
  ]);
});

test.each([
  [
    ["--owner", "ada"],
    [2, 3, 4, 5],
  ],
  [
    ["--owner", "jwt:me:bob"],
    [6, 7],
  ],
  [["--owner", "bob"], []],
  [
    ["--action", "call"],
    [3, 4, 5],
  ],
  [["--action", "call.ended"], [5]],
  [["--action", "cal"], []],
  [
    ["--response", "resp_1"],
    [3, 4, 5],
  ],
  [["--response", "resp_2"], [6]],
  [
    ["--since", "2026-11-17T09:05"],
    [6, 7],
  ],
  [["--since", "2026-11-17T10:05+01:00", "--until", "2026-11-17T09:06Z"], [6]],
  [["--until", "2026-11-17"], []],
  [["--unfinished"], [2, 4]],
  [["--unfinished", "--action", "call"], [4]],
])("filters by %j", async (flags, expected) => {
  const { path } = folderWith(log);
  const { out, err } = await audit([path, "--json", ...flags]);
  expect({ numbers: numbers(out), err }).toEqual({ numbers: expected, err: "" });
});

test("reads standard input, several files, and the file of the config", async () => {
  const { folder, path } = folderWith(log);
  const second = join(folder, "older.jsonl");
  writeFileSync(second, logOf([{ action: "request.started" }, { action: "request.ended", started: 1 }], "b"));
  expect((await audit(["-"], { input: log })).out).toBe((await audit([path])).out);
  expect(numbers((await audit([second, path, "--json"])).out)).toEqual([1, 2, 1, 2, 3, 4, 5, 6, 7]);
  expect(numbers((await audit([second, path, "--json", "--unfinished"])).out)).toEqual([2, 4]);
  const configured = await audit(["--json"], { cwd: folder, env: { RONDO_AUDIT: "audit.jsonl" } });
  expect(numbers(configured.out)).toHaveLength(7);
});

test("counts lines that are broken or missing, and goes on", async () => {
  const [first = "", , third = "", ...rest] = log.split("\n");
  const { path } = folderWith(`${first}\n${third.slice(0, 50)}\n${rest.join("\n")}`);
  const { exitCode, out, err } = await audit([path, "--json"]);
  expect(exitCode).toBe(0);
  expect(numbers(out)).toEqual([1, 4, 5, 6, 7]);
  expect(err).toBe(
    "rondo: 1 line cannot be read; the first is line 2: it is not JSON.\nrondo: 2 lines missing between those that are there.\n",
  );
});

test("what a line contains does not drive the terminal", async () => {
  const hostile = "\u001b[2J\u009b31m\u202e\n";
  const line = JSON.parse(logOf([{ action: "request.started" }])) as object;
  const text = `${JSON.stringify({ ...line, owner: hostile, action: hostile, time: "2026-11-17", [hostile]: hostile })}\n`;
  const { path } = folderWith(text);
  for (const flags of [[], ["--json"]])
    expect((await audit([path, ...flags])).out).toMatch(/^[^\p{Cc}\u202e]*\n$/u);
});

test.each([
  [["--follow", "--unfinished", "x"], "--follow takes one file"],
  [["--follow", "-"], "--follow takes one file"],
  [["--since", "yesterday", "x"], "Expected a time such as"],
  [[], "The config has no audit log. Name a file, or set audit."],
])("is used wrongly with %j", async (args, complaint) => {
  using folder = tempFolder();
  const { exitCode, err } = await audit(args, { cwd: folder.path });
  expect(exitCode).toBe(2);
  expect(err).toContain(complaint);
});

test("a file that is not there is a failure", async () => {
  expect(await audit(["/nowhere/audit.jsonl"])).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining("no such file"),
  });
});

test("follows a log over a rotation, until it is stopped", async () => {
  const { path } = folderWith(log);
  const io = testIo();
  const ended = runCli(["audit", path, "--json", "--follow", "--action", "approval"], io);
  const shown = (owners: readonly string[]) =>
    vi.waitFor(
      () => {
        const lines = io.out.split("\n").slice(0, -1);
        expect(lines.map((line) => (JSON.parse(line) as { owner: string }).owner)).toEqual(owners);
      },
      { timeout: 5000 },
    );
  const approval = (owner: string) => logOf([{ action: "approval.given", owner }], owner);
  appendFileSync(path, approval("a").slice(0, 20));
  appendFileSync(path, approval("a").slice(20));
  await shown(["a"]);
  renameSync(path, `${path}.1`);
  appendFileSync(`${path}.1`, approval("b"));
  writeFileSync(path, approval("c"));
  await shown(["a", "b", "c"]);
  writeFileSync(path, "");
  await vi.waitFor(
    async () => {
      appendFileSync(path, approval("d"));
      expect(io.out).toContain('"owner":"d"');
    },
    { timeout: 5000, interval: 500 },
  );
  io.stop();
  expect(await ended).toBe(130);
});
