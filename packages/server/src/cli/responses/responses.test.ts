// `rondo responses` with real Rondo servers.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { type AnyTool, tool } from "rondo";
import { type ScriptedStep, scriptedModel } from "rondo/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { resolveConfig } from "../../config/check-config.ts";
import type { ConfigInput } from "../../config/schema.ts";
import { folderWith } from "../../config/testkit/folder.ts";
import { hashKey } from "../../http/auth-keys.ts";
import { startServer } from "../../http/server.ts";
import type { StreamEvent } from "../../protocol/events.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import { createApiClient } from "../api-client.ts";
import { runCli } from "../program.ts";
import { type TestIo, type TestIoOptions, testIo } from "../testkit/test-io.ts";
import { followedEvents } from "./followed-events.ts";

const usage = { inputTokens: 5, outputTokens: 7, totalTokens: 12 };
const never = new Promise(() => {});

async function serve(script: ScriptedStep | readonly ScriptedStep[], config: ConfigInput = {}) {
  const model = scriptedModel(script, { name: "test" });
  const server = await startServer(
    resolveConfig({
      port: 0,
      store: "memory",
      models: { test: model },
      log: { level: "silent" },
      shutdownMs: 0,
      ...config,
    }),
  );
  onTestFinished(() => server.close());
  return { url: server.url, port: server.port, close: () => server.close(), model };
}

async function post(url: string, body: object): Promise<ResponseObject> {
  const response = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as ResponseObject;
}

function begin(url: string, args: readonly string[], options: TestIoOptions = {}) {
  const io = testIo({ ...options, env: { RONDO_SERVER: url, ...options.env } });
  return { io, ended: runCli(["responses", ...args], io) };
}

async function run(url: string, args: readonly string[], options?: TestIoOptions) {
  const { io, ended } = begin(url, args, options);
  const exitCode = await ended;
  expect(io.listenerCount).toBe(0);
  return { exitCode, out: io.out, err: io.err };
}

const sees = (io: TestIo, text: string) =>
  vi.waitFor(() => expect(io.out + io.err).toContain(text), { timeout: 4000, interval: 5 });

const terminal = { output: { isTTY: true, columns: 100 }, isErrorTerminal: true };

describe("list", () => {
  test("has a line for each response, with tabs between, the newest first", async () => {
    const { url } = await serve(["One\ttwo\nthree.", "Four."]);
    const first = await post(url, { input: "Hi" });
    const second = await post(url, { input: "Hi" });
    const { exitCode, out, err } = await run(url, ["list"]);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
    const time = (response: ResponseObject) => new Date(response.created_at * 1000).toISOString();
    expect(out).toBe(
      `${second.id}\tcompleted\ttest\t${time(second)}\tFour.\n` +
        `${first.id}\tcompleted\ttest\t${time(first)}\tOne two three.\n`,
    );
    expect((await run(url, ["list", "--limit", "1"])).out).toBe(out.slice(0, out.indexOf("\n") + 1));
  });

  test("is a table on a terminal, with ids that can be used, and fits its width", async () => {
    const { url } = await serve(`\u001b[31mLong${" text".repeat(50)}`);
    const { id } = await post(url, { input: "Hi" });
    const { out } = await run(url, ["list"], terminal);
    const [title = "", row = ""] = stripVTControlCharacters(out).trimEnd().split("\n");
    expect(title).toMatch(/^ID +STATUS +MODEL +CREATED +TEXT$/);
    expect(row).toMatch(
      /^resp_[0-9a-f]{12} {2}completed {2}test {3}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}\[31mLong text.*…$/,
    );
    expect(row.length).toBe(99);
    expect(out).toContain("\u001b[32mcompleted");
    const [short = ""] = row.split(" ");
    expect((await run(url, ["show", short, "--json"])).out).toContain(`"id": "${id}"`);
    expect((await run(url, ["list"], { ...terminal, env: { NO_COLOR: "1" } })).out).not.toContain("\u001b");
  });

  test("chooses by status and model, and --json has whole responses", async () => {
    const { url } = await serve(["One.", { error: new Error("broken") }]);
    const done = await post(url, { input: "Hi" });
    await fetch(`${url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"input":"Hi"}',
    });
    const { out } = await run(url, ["list", "--status", "completed", "--model", "test", "--json"]);
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([done]);
    const none = await run(url, ["list", "--model", "other"]);
    expect(none).toEqual({
      exitCode: 0,
      out: "",
      err: `There are no responses of that kind at ${url}/v1.\n`,
    });
  });

  test("can be longer than a page of the server", async () => {
    const { url } = await serve("Yes.");
    for (let round = 0; round < 3; round++)
      await Promise.all(Array.from({ length: 35 }, () => post(url, { input: "Hi" })));
    const { out } = await run(url, ["list", "--limit", "103"]);
    expect(new Set(out.trimEnd().split("\n")).size).toBe(103);
  });

  test.each([
    [["--limit", "0"], "Expected a whole number from 1."],
    [["--status", "done"], "Allowed choices are queued"],
    [["--server", "nowhere"], "Expected an http or https URL."],
  ])("refuses %j", async (args, said) => {
    expect(await run("", ["list", ...args])).toMatchObject({
      exitCode: 2,
      out: "",
      err: expect.stringContaining(said),
    });
  });
});

const add: AnyTool = tool(
  { name: "add", description: "Add.", input: { a: Number, b: Number }, registry: false },
  async ({ a, b }) => a + b,
);

test("show prints input, thoughts, calls and text", async () => {
  const steps: ScriptedStep[] = [
    { thinking: "Hm.", calls: [{ name: "add", input: { a: 1, b: 2 } }], usage },
    { text: "It is 3.", usage },
  ];
  const { url } = await serve(steps, { tools: [add] });
  const { id } = await post(url, { input: "What is 1 + 2?" });
  const { exitCode, out, err } = await run(url, ["show", id.slice(5, 20)]);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
  expect(out).toContain(`id\t${id}\nstatus\tcompleted\nmodel\ttest\n`);
  expect(out).toContain("tokens\t10 in, 14 out\n");
  expect(out).toContain(
    '\nuser:\nWhat is 1 + 2?\n\nthinking:\nHm.\n\n→ add {"a":1,"b":2}\n← add 3\n\nassistant:\nIt is 3.\n',
  );
  const screen = await run(url, ["show", id], terminal);
  expect(screen.out).toContain("\u001b[32mcompleted");
  expect(stripVTControlCharacters(screen.out)).toContain(`id         ${id}
`);
});

describe("follow", () => {
  test("shows past and new output, with tokens at the end", async () => {
    const gate = Promise.withResolvers<void>();
    const { url } = await serve({ thinking: "Hm.", text: ["Once ", gate.promise, "upon."], usage });
    const { id } = await post(url, { input: "Hi", background: true });
    const { io, ended } = begin(url, ["follow", id]);
    await sees(io, "Once ");
    gate.resolve();
    expect(await ended).toBe(0);
    expect(io.out).toBe("Once upon.\n");
    expect(io.err).toMatch(/^thinking: Hm\.\n5 tokens in, 7 out · \d/);
    expect((await run(url, ["follow", id.slice(0, 12)])).out).toBe("Once upon.\n");
  });

  test("--json prints the events of the API, from the requested one", async () => {
    const { url } = await serve(["Yes."]);
    const { id } = await post(url, { input: "Hi", background: true });
    const all = await run(url, ["follow", id, "--json"]);
    const events = linesOf(all.out);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { id } });
    const rest = await run(url, ["follow", id, "--json", "--starting-after", "2"]);
    expect(linesOf(rest.out)).toEqual(events.slice(3));
    const last = String(events.length - 1);
    expect(await run(url, ["follow", id, "--json", "--starting-after", last])).toEqual({
      exitCode: 0,
      out: "",
      err: "",
    });
  });

  test("continues over a restart of the server, without gaps or repetitions", async () => {
    using folder = folderWith();
    const store = `sqlite:${join(folder.path, "rondo.db")}`;
    const before = await serve({ text: ["Once ", never] }, { store });
    const { id } = await post(before.url, { input: "Hi", background: true });
    const text = begin(before.url, ["follow", id]);
    const json = begin(before.url, ["follow", id, "--json"]);
    await Promise.all([sees(text.io, "Once "), sees(json.io, '"Once "')]);
    await before.close();
    await Promise.all([sees(text.io, "Trying again"), sees(json.io, "Trying again")]);
    const after = await serve({ text: "Once more.", usage }, { store, port: before.port });
    expect(await Promise.all([text.ended, json.ended])).toEqual([0, 0]);
    expect(text.io.err).toContain("The server is back.\n");
    const events = linesOf(json.io.out);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)).toMatchObject({ type: "response.completed" });
    expect(text.io.out).toBe("Once \nOnce more.\n");
    expect(text.io.err).toContain("The server was restarted, and the model begins again.\n");
    expect((await run(after.url, ["follow", id])).out).toBe("Once \nOnce more.\n");
    await after.close();
  });

  test("reconnects after the last event when the connection is cut", async () => {
    const { url } = await serve({ text: ["a", "b", "c"].flatMap((it) => [it, Promise.resolve()]) });
    const { id } = await post(url, { input: "Hi", background: true });
    const whole = linesOf((await run(url, ["follow", id, "--json"])).out);
    const proxy = await cuttingProxy(url);
    const { exitCode, out } = await run(proxy.url, ["follow", id, "--json"]);
    expect(exitCode).toBe(0);
    expect(linesOf(out)).toEqual(whole);
    expect(proxy.startedAfter.length).toBeGreaterThan(1);
  });

  test("gives up on a server that stays away, and at once on one that replies with nonsense", async () => {
    const { url, close } = await serve({ text: ["Once ", never] });
    const { id } = await post(url, { input: "Hi", background: true });
    const states: string[] = [];
    const events = followedEvents({
      api: createApiClient({ baseUrl: url }),
      id,
      startingAfter: -1,
      signal: new AbortController().signal,
      retries: { firstMs: 1, longestMs: 4, giveUpMs: 50 },
      onConnection: (state) => states.push(state),
    });
    const read = async () => {
      for await (const { type } of events) if (type === "response.output_text.delta") await close();
    };
    await expect(read()).rejects.toThrow("No server answers");
    expect(states).toEqual(["lost"]);
    const page = createServer((_, answer) => answer.end("<html>")).listen(0, "127.0.0.1");
    await new Promise((resolve) => page.once("listening", resolve));
    onTestFinished(() => void page.close());
    const wrong = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
    expect((await run(wrong, ["follow", id])).err).toContain("got a web page");
  });

  test("Ctrl-C stops following, not the response", async () => {
    const gate = Promise.withResolvers<void>();
    const { url } = await serve({ text: ["Once ", gate.promise, "upon."] });
    const { id } = await post(url, { input: "Hi", background: true });
    const { io, ended } = begin(url, ["follow", id]);
    await sees(io, "Once ");
    io.stop();
    expect(await ended).toBe(130);
    expect(io.err).toMatch(
      /The response goes on. To see the rest: rondo responses follow resp_\w+ --starting-after \d+\n/,
    );
    const [, after = ""] = /--starting-after (\d+)/.exec(io.err) ?? [];
    gate.resolve();
    expect((await run(url, ["follow", id, "--starting-after", after])).out).toBe("upon.\n");
  });

  test.each([
    ["has failed", { error: new Error("The cable is out.") }, "Something went wrong in this server"],
    ["was cut off", { text: "Once", finishReason: "length" as const }, "cut off"],
  ])("exits with 1 for a response that %s", async (_, step, said) => {
    const { url } = await serve(step);
    const { id } = await post(url, { input: "Hi", background: true });
    const { exitCode, err } = await run(url, ["follow", id]);
    expect(exitCode).toBe(1);
    expect(err).toContain(said);
  });

  test("reports calls that wait for the client", async () => {
    const { url } = await serve({ calls: [{ name: "weather", input: { city: "Rome" } }] });
    const tools = [
      {
        type: "function",
        name: "weather",
        parameters: { type: "object", properties: { city: { type: "string" } } },
      },
    ];
    const { id } = await post(url, { input: "Hi", background: true, tools });
    const { exitCode, err } = await run(url, ["follow", id]);
    expect(exitCode).toBe(0);
    expect(err).toContain('→ weather {"city":"Rome"}\nIt waits for the results of its calls (1).\n');
  });

  test("points to show for a response that is not in the background", async () => {
    const { url } = await serve("Yes.");
    const { id } = await post(url, { input: "Hi" });
    const { exitCode, err } = await run(url, ["follow", id]);
    expect(exitCode).toBe(1);
    expect(err).toContain(`\`rondo responses show ${id}\` shows it.`);
  });
});

test("cancel ends a response and its followers, and leaves one that is over unchanged", async () => {
  const { url } = await serve([{ text: ["Once ", never] }]);
  const { id } = await post(url, { input: "Hi", background: true });
  const { io, ended } = begin(url, ["follow", id]);
  await sees(io, "Once ");
  expect(await run(url, ["cancel", id])).toEqual({ exitCode: 0, out: `${id}\tcancelled\n`, err: "" });
  expect(await ended).toBe(1);
  expect(io.err).toContain("The response was cancelled.\n");
  const again = await run(url, ["cancel", id]);
  expect(again).toEqual({
    exitCode: 0,
    out: `${id}\tcancelled\n`,
    err: "The response was over before: it is cancelled.\n",
  });
});

describe("reports that", () => {
  const id = `resp_${"0".repeat(32)}`;

  test.each([[["list"]], [["show", id]], [["follow", id]], [["cancel", id]]])(
    "no server runs: %j",
    async (args) => {
      const { exitCode, out, err } = await run("http://127.0.0.1:9", args);
      expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
      expect(err).toMatch(
        /^rondo: No server answers at http:\/\/127\.0\.0\.1:9\/v1: .* Start one with `rondo serve`/,
      );
    },
  );

  test("no response has this id or prefix", async () => {
    const { url } = await serve("Yes.");
    for (const command of ["show", "follow", "cancel"]) {
      const { exitCode, err } = await run(url, [command, id]);
      expect(exitCode).toBe(1);
      expect(err).toContain(id);
      expect(err).toContain(`\`rondo responses list\` shows those at ${url}/v1.`);
    }
    expect((await run(url, ["show", "resp_0000"])).err).toContain("None of the newest responses");
  });

  test("a prefix is ambiguous", async () => {
    // Random ids do not share a beginning when they are told to, so this server makes its own.
    const ids = [`resp_aaaa${"1".repeat(28)}`, `resp_aaaa${"2".repeat(28)}`];
    const page = { data: ids.map((it) => ({ id: it })), has_more: false, first_id: ids[0], last_id: ids[1] };
    const server = createServer((_, answer) => answer.end(JSON.stringify(page))).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { exitCode, err } = await run(url, ["show", "aaaa"]);
    expect(exitCode).toBe(1);
    expect(err).toContain(`Several responses begin with 'resp_aaaa': ${ids.join(", ")}.`);
  });

  test("a key is needed, and takes it from a flag or the environment", async () => {
    const key = "rk_test";
    const { url } = await serve("Yes.", { auth: { keys: [{ owner: "ada", hash: hashKey(key) }] } });
    const refused = await run(url, ["list"]);
    expect(refused.exitCode).toBe(1);
    expect(refused.err).toContain("Pass its key with --api-key or RONDO_API_KEY");
    const none = { exitCode: 0, out: "", err: `There are no responses at ${url}/v1.\n` };
    expect(await run(url, ["list", "--api-key", key])).toEqual(none);
    expect(await run(url, ["list"], { env: { RONDO_SERVER: url, RONDO_API_KEY: key } })).toEqual(none);
  });
});

test("each command has help with examples", async () => {
  for (const args of [[], ["list"], ["show"], ["follow"], ["cancel"]]) {
    const { exitCode, out } = await run("", [...args, "--help"]);
    expect(exitCode).toBe(0);
    expect(out).toContain("Examples:\n  rondo responses ");
    expect(out.includes("--server <url>")).toBe(args.length > 0);
  }
});

function linesOf(out: string): StreamEvent[] {
  return out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as StreamEvent);
}

/** Passes requests on, and cuts each stream but the last after its second event. */
async function cuttingProxy(target: string) {
  const startedAfter: (string | null)[] = [];
  const pass = async (request: IncomingMessage, answer: ServerResponse) => {
    const url = new URL(request.url ?? "/", target);
    const response = await fetch(url);
    const body = await response.text();
    answer.writeHead(response.status, { "content-type": response.headers.get("content-type") ?? "" });
    if (!url.searchParams.has("stream")) {
      answer.end(body);
      return;
    }
    startedAfter.push(url.searchParams.get("starting_after"));
    const frames = body.split("\n\n").map((frame) => `${frame}\n\n`);
    if (startedAfter.length > 2) answer.end(body);
    else answer.write(frames.slice(0, 2).join(""), () => answer.destroy());
  };
  const server = createServer((request, answer) => void pass(request, answer)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, startedAfter };
}
