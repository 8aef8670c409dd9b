// Code in a sandbox, through the `openai` package: unchanged programs, streamed, plain and in the background.

import { existsSync } from "node:fs";
import OpenAI from "openai";
import type { Response, ResponseCreateParamsNonStreaming } from "openai/resources/responses/responses";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../store/testkit/temp-folder.ts";
import { sharedTier } from "./testkit/sandbox.ts";
import { SocketClient } from "./testkit/socket-client.ts";
import { start } from "./testkit/start.ts";

const { tier, problem } = await sharedTier();
const why = problem ?? (existsSync("/usr/bin/python3") ? undefined : "there is no Python");
if (why !== undefined) console.warn(`The tests of sandboxed code are skipped: ${why}`);

const python = (code: string) => ({ calls: [{ name: "python", input: { code } }] });
const shell = (...commands: string[]) => ({ calls: [{ name: "shell", input: { commands } }] });
const interpreter = { type: "code_interpreter", container: { type: "auto" } } as const;
const containerShell = { type: "shell", environment: { type: "container_auto" } } as const;

type Script = Parameters<typeof start>[0]["script"];
type StartConfig = NonNullable<Parameters<typeof start>[0]["config"]>;

async function serverFor(script: Script, config: StartConfig = {}) {
  const server = await start({ script, config: { sandbox: { kind: tier }, ...config } });
  const clientOf = (apiKey = "none") =>
    new OpenAI({ baseURL: server.baseURL, apiKey, fetch: server.fetch, maxRetries: 0 });
  /** What the model read as the results of its calls, in its last request. */
  const results = () => server.model.requests.at(-1)?.messages.filter(({ role }) => role === "tool") ?? [];
  return { ...server, client: clientOf(), clientOf, texts: () => results().map(({ content }) => content) };
}

/** Runs a request in one of the ways that clients have. */
async function run(
  client: OpenAI,
  how: "plain" | "streamed" | "background",
  body: Omit<ResponseCreateParamsNonStreaming, "model">,
): Promise<{ response: Response; events: string[] }> {
  const request = { model: "test", ...body };
  if (how === "plain") return { response: await client.responses.create(request), events: [] };
  const stream = await client.responses.create({
    ...request,
    stream: true,
    background: how === "background",
  });
  const all = await Array.fromAsync(stream);
  const last = all.at(-1) as unknown as { response: Response };
  return { response: last.response, events: all.map(({ type }) => type) };
}

describe.skipIf(why !== undefined)("code_interpreter", () => {
  test.each(["plain", "streamed", "background"] as const)(
    "runs code, keeps variables and cites files (%s)",
    async (how) => {
      const { client, texts, exchanges } = await serverFor([
        python("x = 41\nprint('\\x1b[31mhi\\x1b[0m')\nx + 1"),
        python("open('out.csv', 'w').write('a,b')\nx"),
        "I wrote [the file](sandbox:/mnt/data/out.csv).",
      ]);
      const { response, events } = await run(client, how, {
        input: "Go",
        tools: [interpreter],
        include: ["code_interpreter_call.outputs"],
      });
      const [first, second, message] = response.output;
      expect(first).toMatchObject({
        type: "code_interpreter_call",
        status: "completed",
        code: "x = 41\nprint('\\x1b[31mhi\\x1b[0m')\nx + 1",
        outputs: [{ type: "logs", logs: "hi\n42\n" }],
      });
      const { container_id: id } = first as { container_id: string };
      expect(second).toMatchObject({ container_id: id, outputs: [{ logs: "41\n" }] });
      expect(texts()).toEqual(["hi\n42", "41"]);
      const files = await Array.fromAsync(client.containers.files.list(id));
      expect(files).toMatchObject([{ path: "/mnt/data/out.csv", bytes: 3, source: "assistant" }]);
      expect(message).toMatchObject({
        content: [
          {
            annotations: [
              {
                type: "container_file_citation",
                container_id: id,
                file_id: files[0]?.id,
                filename: "out.csv",
                start_index: 19,
                end_index: 44,
              },
            ],
          },
        ],
      });
      const content = await client.containers.files.content.retrieve(files[0]?.id ?? "", {
        container_id: id,
      });
      expect(await content.text()).toBe("a,b");
      expect(events.filter((type) => type.includes("code_interpreter"))).toEqual(
        Array.from({ length: how === "plain" ? 0 : 2 }, () => [
          "response.code_interpreter_call.in_progress",
          "response.code_interpreter_call_code.delta",
          "response.code_interpreter_call_code.done",
          "response.code_interpreter_call.interpreting",
          "response.code_interpreter_call.completed",
        ]).flat(),
      );
      expect(exchanges.flaws()).toEqual([]);
    },
  );

  test("goes on in its container along a chain, and also where the client keeps the history", async () => {
    const { client, texts } = await serverFor([
      python("x = 1"),
      "One.",
      python("x += 1\nx"),
      "Two.",
      python("x += 1\nx"),
      "Three.",
    ]);
    const tools = [interpreter];
    const one = await client.responses.create({ model: "test", input: "1", tools });
    expect(one.output[0]).toMatchObject({ outputs: null });
    const two = await client.responses.create({
      model: "test",
      input: "2",
      tools,
      previous_response_id: one.id,
    });
    expect(texts()).toEqual(["(The code printed nothing.)", "2"]);
    const history = [...one.output, ...two.output] as OpenAI.Responses.ResponseInput;
    const input = [...history, { role: "user" as const, content: "3" }];
    await client.responses.create({ model: "test", input, tools, store: false });
    expect(texts()).toEqual(["(The code printed nothing.)", "2", "3"]);
  });

  test("works on uploaded files", async () => {
    const { client, model, texts } = await serverFor([
      python("print(open('/mnt/data/sales.csv').read().split()[1])"),
      "Done.",
      python("print(open('/mnt/data/sales.csv').read(), file=open('/mnt/data/sales.csv', 'a'))"),
      python("open('/mnt/data/sales.csv').read()"),
      "Done.",
      python("open('/mnt/data/sales.csv').read()"),
      "Done.",
    ]);
    const file = await client.files.create({
      file: new File(["day,sales\n1,10\n"], "sales.csv"),
      purpose: "user_data",
    });
    const tools = [{ ...interpreter, container: { type: "auto" as const, file_ids: [file.id] } }];
    const { output, ...first } = await client.responses.create({ model: "test", input: "Go", tools });
    expect(texts()).toEqual(["1,10"]);
    expect(JSON.stringify(model.requests[0]?.tools)).toContain("The user's files: /mnt/data/sales.csv.");
    // What the code did to a file stays; another file of its name takes its place.
    const other = { file: new File(["new"], "sales.csv"), purpose: "user_data" } as const;
    for (const id of [file.id, (await client.files.create(other)).id]) {
      const container = { type: "auto" as const, file_ids: [id] };
      await client.responses.create({
        model: "test",
        input: "Go",
        previous_response_id: first.id,
        tools: [{ ...interpreter, container }],
      });
    }
    expect(model.requests.at(-3)?.messages.at(-1)?.content).toContain("1,10\\nday,sales");
    expect(texts().at(-1)).toBe("'new'");
    const { container_id: id } = output[0] as { container_id: string };
    expect(await Array.fromAsync(client.containers.files.list(id))).toMatchObject([{ source: "user" }]);
    const missing = [{ ...interpreter, container: { type: "auto" as const, file_ids: ["file_x"] } }];
    await expect(
      client.responses.create({ model: "test", input: "Go", tools: missing }),
    ).rejects.toMatchObject({
      status: 404,
      param: "tools[0].container.file_ids[0]",
    });
  });

  test("tells the model of errors, limits and a lost interpreter, and cuts floods", async () => {
    const { client, texts } = await serverFor(
      [
        python("x = 1\n1 / 0"),
        python("x"),
        python("import os\nos.kill(os.getpid(), 9)"),
        python("'x' in globals()"),
        python("while True: pass"),
        python("print('y' * 10_000_000)"),
        "Done.",
      ],
      { sandbox: { kind: tier, limits: { timeoutMs: 1000, outputBytes: 20_000 } } },
    );
    const { output } = await client.responses.create({
      model: "test",
      input: "Go",
      tools: [interpreter],
      include: ["code_interpreter_call.outputs"],
    });
    const [failed, kept, killed, anew, slow, flood] = texts() as string[];
    expect(failed).toContain("ZeroDivisionError");
    expect(kept).toBe("1");
    expect(killed).toContain("variables are gone");
    expect(anew).toMatch(/started anew[\s\S]*False/);
    expect(slow).toMatch(/1 second|1,?000 ms|time/);
    expect(flood?.length).toBeLessThan(30_000);
    expect(output.map((item) => ("status" in item ? item.status : ""))).toEqual([
      "completed",
      "completed",
      "failed",
      "completed",
      "failed",
      "failed",
      "completed",
    ]);
  });

  test("runs JavaScript where it is to, with top-level await", async () => {
    const { client, texts } = await serverFor(
      [
        { calls: [{ name: "javascript", input: { code: "const x = await Promise.resolve(6);\nx * 7" } }] },
        "Done.",
      ],
      { sandbox: { kind: tier, language: "javascript" } },
    );
    const response = await client.responses.create({ model: "test", input: "Go", tools: [interpreter] });
    expect(response.output[0]).toMatchObject({ type: "code_interpreter_call", status: "completed" });
    expect(texts()).toEqual(["42"]);
  });

  test("finds its files after a restart, and tells the model that the variables are gone", async () => {
    const first = await serverFor([python("x = 1\nopen('a.txt', 'w').write('kept')"), "One."]);
    const container = await first.client.containers.create({ name: "mine" });
    const tools = [{ type: "code_interpreter" as const, container: container.id }];
    await first.client.responses.create({ model: "test", input: "1", tools });
    await first.close();
    const second = await serverFor([python("open('a.txt').read()"), "Two."]);
    await second.client.responses.create({ model: "test", input: "2", tools });
    expect(second.texts()).toEqual([
      expect.stringMatching(/variables of earlier calls are gone[\s\S]*'kept'/),
    ]);
  });
});

describe.skipIf(why !== undefined)("a run in the background", () => {
  test("whose server stops in the middle of a call goes on, and the model is told that it was interrupted", async () => {
    using folder = tempFolder();
    const config = { store: `sqlite:${folder.path}/rondo.db` };
    const first = await serverFor([python("import time\nopen('begun', 'w')\ntime.sleep(60)")], config);
    const queued = await first.client.responses.create({
      model: "test",
      input: "Go",
      tools: [interpreter],
      background: true,
    });
    const made = async () => {
      const containers = await Array.fromAsync(first.client.containers.list({ name: "auto" }));
      const files = await Promise.all(
        containers.map(({ id }) => Array.fromAsync(first.client.containers.files.list(id))),
      );
      return files.flat().some(({ path }) => path === "/mnt/data/begun");
    };
    await expect.poll(made, { timeout: 20_000 }).toBe(true);
    await first.close();
    const second = await serverFor([python("import os\nos.listdir()"), "Done."], config);
    const status = async () => (await second.client.responses.retrieve(queued.id)).status;
    await expect.poll(status, { timeout: 20_000 }).toBe("completed");
    expect(second.texts()).toEqual([
      expect.stringContaining("the server stopped while this call ran"),
      expect.stringMatching(/started anew[\s\S]*\['begun'\]/),
    ]);
  });
});

describe.skipIf(why !== undefined)("over a WebSocket", () => {
  test("code runs, and a later request of the connection goes on in its container without a store", async () => {
    const server = await serverFor([python("x = 20"), "One.", python("x + 22"), "Two."]);
    const socket = await SocketClient.open(server.baseURL);
    const request = { model: "test", tools: [interpreter], store: false };
    const one = await socket.ask({ ...request, input: "1" });
    expect(one.events.map(({ type }) => type)).toContain("response.code_interpreter_call.interpreting");
    await socket.ask({ ...request, input: "2", previous_response_id: one.response.id });
    expect(server.texts()).toEqual(["(The code printed nothing.)", "42"]);
    socket.socket.terminate();
  });
});

describe.skipIf(why !== undefined)("shell in a container", () => {
  test.each(["plain", "streamed", "background"] as const)(
    "runs commands and gives their outputs (%s)",
    async (how) => {
      const { client, texts, exchanges } = await serverFor([
        shell("echo out; echo err >&2; exit 3", "printf '%s' \"$HOME\""),
        "Done.",
        "Again.",
      ]);
      const { response, events } = await run(client, how, { input: "Go", tools: [containerShell] });
      expect(response.output).toMatchObject([
        {
          type: "shell_call",
          status: "completed",
          action: { commands: ["echo out; echo err >&2; exit 3", "printf '%s' \"$HOME\""], timeout_ms: null },
          environment: { type: "container_reference" },
        },
        {
          type: "shell_call_output",
          output: [
            { stdout: "out\n", stderr: "err\n", outcome: { type: "exit", exit_code: 3 } },
            { outcome: { type: "exit", exit_code: 0 } },
          ],
        },
        { type: "message" },
      ]);
      expect(response.status).toBe("completed");
      expect(texts()).toEqual([expect.stringContaining("out\n\nerr\n\n(exit code 3)")]);
      expect(events.filter((type) => type.includes("shell_call"))).toEqual(
        how === "plain"
          ? []
          : [
              "response.shell_call_command.added",
              "response.shell_call_command.delta",
              "response.shell_call_command.done",
              "response.shell_call_command.added",
              "response.shell_call_command.delta",
              "response.shell_call_command.done",
              "response.shell_call_output_content.delta",
              "response.shell_call_output_content.done",
              "response.shell_call_output_content.delta",
              "response.shell_call_output_content.done",
            ],
      );
      await client.responses.create({ model: "test", input: "Once more", previous_response_id: response.id });
      expect(texts()).toEqual([expect.stringContaining("(exit code 3)")]);
      expect(exchanges.flaws()).toEqual([]);
    },
  );

  test("ends at its time, cuts at its length, and shares the files of the interpreter", async () => {
    const { client, texts } = await serverFor([
      python("open('shared.txt', 'w').write('from python')"),
      shell("cat shared.txt"),
      {
        calls: [
          {
            name: "shell",
            input: { commands: ["yes", "echo never"], timeout_ms: 300, max_output_length: 10 },
          },
        ],
      },
      "Done.",
    ]);
    const { output } = await client.responses.create({
      model: "test",
      input: "Go",
      tools: [interpreter, containerShell],
    });
    expect(texts()[1]).toBe("from python\n(exit code 0)");
    const last = output.findLast(({ type }) => type === "shell_call_output") as { output: unknown[] };
    expect(last.output).toMatchObject([
      { stdout: expect.stringMatching(/^(?:y\n){5}… \(\d+ more characters\)$/) },
    ]);
    expect(texts()[2]).toContain("(1 more commands were not run.)");
  });
});

describe.skipIf(why !== undefined)("containers", () => {
  test("are created, listed and deleted, with files from uploads and from file ids", async () => {
    const { client } = await serverFor([]);
    const container = await client.containers.create({
      name: "mine",
      memory_limit: "1g",
      expires_after: { anchor: "last_active_at", minutes: 5 },
    });
    expect(container).toMatchObject({
      object: "container",
      status: "running",
      name: "mine",
      expires_after: { anchor: "last_active_at", minutes: 5 },
      memory_limit: "1g",
      network_policy: { type: "disabled" },
    });
    expect(await client.containers.retrieve(container.id)).toMatchObject({ id: container.id });
    expect((await Array.fromAsync(client.containers.list({ name: "mine" }))).map(({ id }) => id)).toContain(
      container.id,
    );
    const names = ["../../escape.txt", "/etc/passwd", "a\u0000b\u001b[2J\n.txt", "..", "nested\\name.txt"];
    for (const name of names)
      await client.containers.files.create(container.id, { file: new File([name], name) });
    const file = await client.files.create({
      file: new File(["copied"], "copied.txt"),
      purpose: "user_data",
    });
    const copied = await client.containers.files.create(container.id, { file_id: file.id });
    expect(copied).toMatchObject({
      object: "container.file",
      path: "/mnt/data/copied.txt",
      bytes: 6,
      source: "user",
    });
    const files = await Array.fromAsync(client.containers.files.list(container.id, { limit: 2 }));
    expect(files.map(({ path }) => path).toSorted()).toEqual([
      "/mnt/data/a_b_[2J_.txt",
      "/mnt/data/copied.txt",
      "/mnt/data/escape.txt",
      "/mnt/data/file",
      "/mnt/data/name.txt",
      "/mnt/data/passwd",
    ]);
    await client.containers.files.delete(copied.id, { container_id: container.id });
    await expect(
      client.containers.files.retrieve(copied.id, { container_id: container.id }),
    ).rejects.toMatchObject({ status: 404 });
    await client.containers.delete(container.id);
    await expect(client.containers.retrieve(container.id)).rejects.toMatchObject({
      status: 404,
      code: "container_not_found",
    });
  });

  test("a container that is deleted while its code runs ends it, and the model is told", async () => {
    const { client, texts } = await serverFor([
      python("import time\nopen('on', 'w')\ntime.sleep(60)"),
      "Done.",
    ]);
    const container = await client.containers.create({ name: "short-lived" });
    const running = client.responses.create({
      model: "test",
      input: "Go",
      tools: [{ type: "code_interpreter", container: container.id }],
    });
    await expect
      .poll(async () => (await Array.fromAsync(client.containers.files.list(container.id))).length, {
        timeout: 20_000,
      })
      .toBe(1);
    await client.containers.delete(container.id);
    expect((await running).output.at(-1)).toMatchObject({ type: "message" });
    expect(texts()).toEqual([expect.stringMatching(/gone|closed|removed|lost/)]);
  });

  test("limits hold: of containers, of disk, of network, and of who may use them", async () => {
    const limited = await serverFor([], {
      sandbox: {
        kind: tier,
        containersPerOwner: 2,
        limits: { diskBytes: 1_000_000 },
        network: { allow: [] },
      },
    });
    for (const { id } of await Array.fromAsync(limited.client.containers.list()))
      await limited.client.containers.delete(id);
    const { id } = await limited.client.containers.create({ name: "1" });
    await limited.client.containers.create({ name: "2" });
    await expect(limited.client.containers.create({ name: "3" })).rejects.toMatchObject({ status: 429 });
    await expect(
      limited.client.containers.files.create(id, { file: new File([new Uint8Array(2_000_000)], "big") }),
    ).rejects.toMatchObject({ status: 413, code: "container_full" });
    expect(await Array.fromAsync(limited.client.containers.files.list(id))).toEqual([]);
    await expect(
      limited.client.containers.create({
        name: "4",
        network_policy: { type: "allowlist", allowed_domains: ["example.org"] },
      }),
    ).rejects.toMatchObject({ status: 400, code: "network_not_allowed" });
    await expect(
      limited.client.containers.create({
        name: "5",
        expires_after: { anchor: "last_active_at", minutes: 600 },
      }),
    ).rejects.toMatchObject({ status: 400, param: "expires_after.minutes" });

    const closed = await serverFor([], { sandbox: { kind: tier, owners: ["ann"] } });
    await expect(closed.client.containers.create({ name: "x" })).rejects.toMatchObject({
      status: 403,
      code: "sandbox_not_allowed",
    });
  });
});

test("without a sandbox, such tools and containers are a 400 that says what to do", async () => {
  const { client } = await serverFor([], { sandbox: { kind: "none" } });
  for (const tool of [interpreter, containerShell])
    await expect(
      client.responses.create({ model: "test", input: "Go", tools: [tool] }),
    ).rejects.toMatchObject({
      status: 400,
      code: "unsupported_tool",
      param: "tools[0]",
      message: expect.stringContaining("sandbox.kind"),
    });
  await expect(client.containers.list()).rejects.toMatchObject({ status: 400 });
});
