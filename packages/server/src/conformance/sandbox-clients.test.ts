// The AI SDK's code interpreter, and the Agents SDK's code interpreter and shell: unchanged, against the server.

import { existsSync } from "node:fs";
import { createOpenAI } from "@ai-sdk/openai";
import { Agent, codeInterpreterTool, OpenAIProvider, Runner, shellTool } from "@openai/agents";
import { generateText, stepCountIs, streamText } from "ai";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { hashKey, newKey } from "../http/auth-keys.ts";
import { sharedTier } from "./testkit/sandbox.ts";
import { start } from "./testkit/start.ts";

const { tier, problem } = await sharedTier();
const why = problem ?? (existsSync("/usr/bin/python3") ? undefined : "there is no Python");
if (why !== undefined) console.warn(`The clients of sandboxed code are not tried: ${why}`);

const python = (code: string) => ({ calls: [{ name: "python", input: { code } }] });
const serverFor = (script: Parameters<typeof start>[0]["script"]) =>
  start({ script, config: { sandbox: { kind: tier } } });

describe.skipIf(why !== undefined)("unchanged clients", () => {
  test.each([false, true])("the AI SDK runs code, and goes on with it (streamed: %s)", async (isStreamed) => {
    const server = await serverFor([python("x = 6\nx * 7"), "It is 42.", python("x"), "Six."]);
    const openai = createOpenAI({ baseURL: server.baseURL, apiKey: "none", fetch: server.fetch });
    const options = {
      model: openai.responses("test"),
      maxRetries: 0,
      stopWhen: stepCountIs(5),
      tools: { code_interpreter: openai.tools.codeInterpreter({}) },
    };
    const ask = async (messages: Parameters<typeof generateText>[0]["messages"]) => {
      if (!isStreamed) return generateText({ ...options, messages: messages ?? [] });
      const stream = streamText({ ...options, messages: messages ?? [] });
      await stream.consumeStream();
      const [text, toolResults, response] = await Promise.all([
        stream.text,
        stream.toolResults,
        stream.response,
      ]);
      return { text, toolResults, response };
    };
    const question = { role: "user" as const, content: "What is 6 * 7?" };
    const first = await ask([question]);
    expect(first.text).toBe("It is 42.");
    expect(first.toolResults).toMatchObject([
      { toolName: "code_interpreter", output: { outputs: [{ type: "logs", logs: "42\n" }] } },
    ]);
    const second = await ask([question, ...first.response.messages, { role: "user", content: "And x?" }]);
    expect(second.text).toBe("Six.");
    expect(second.toolResults).toMatchObject([{ output: { outputs: [{ logs: "6\n" }] } }]);
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test.each([false, true])("the Agents SDK runs code and commands (streamed: %s)", async (stream) => {
    const server = await serverFor([
      python("open('a.txt', 'w').write('from python')\n40 + 2"),
      { calls: [{ name: "shell", input: { commands: ["cat a.txt"] } }] },
      "All done.",
      python("open('a.txt').read()"),
      "Still there.",
    ]);
    const agent = new Agent({
      name: "worker",
      model: "test",
      tools: [
        codeInterpreterTool({ container: { type: "auto" } }),
        shellTool({ environment: { type: "container_auto" } }),
      ],
    });
    const client = new OpenAI({
      baseURL: server.baseURL,
      apiKey: "none",
      fetch: server.fetch,
      maxRetries: 0,
    });
    const runner = new Runner({
      modelProvider: new OpenAIProvider({ openAIClient: client, useResponses: true }),
      tracingDisabled: true,
    });
    const result = stream ? await runner.run(agent, "Go", { stream: true }) : await runner.run(agent, "Go");
    if ("completed" in result) await result.completed;
    expect(result.finalOutput).toBe("All done.");
    // The SDK keeps the history itself.
    const next = await runner.run(agent, [...result.history, { role: "user", content: "And now?" }]);
    expect(next.finalOutput).toBe("Still there.");
    const read = server.model.requests.at(-1)?.messages.filter(({ role }) => role === "tool");
    expect(read?.map(({ content }) => content)).toEqual([
      "42",
      "from python\n(exit code 0)",
      "'from python'",
    ]);
    expect(server.exchanges.flaws()).toEqual([]);
  });

  test("another owner's containers and files do not exist, wherever their ids are named", async () => {
    const keys = { ann: newKey(), bob: newKey() };
    const server = await start({
      script: [],
      config: {
        sandbox: { kind: tier },
        auth: { keys: Object.entries(keys).map(([owner, key]) => ({ owner, hash: hashKey(key) })) },
      },
    });
    const clientOf = (apiKey: string) => new OpenAI({ baseURL: server.baseURL, apiKey, maxRetries: 0 });
    const [ann, bob] = [clientOf(keys.ann), clientOf(keys.bob)];
    const { id } = await ann.containers.create({ name: "ann's" });
    const file = await ann.containers.files.create(id, { file: new File(["secret"], "secret.txt") });
    const upload = await ann.files.create({ file: new File(["secret"], "s.txt"), purpose: "user_data" });
    const own = await bob.containers.create({ name: "bob's" });
    expect((await Array.fromAsync(bob.containers.list())).map((it) => it.id)).toEqual([own.id]);
    const request = { model: "test", input: "Go" };
    const place = { container_id: id };
    const attempts: Record<string, () => PromiseLike<unknown>> = {
      retrieve: () => bob.containers.retrieve(id),
      delete: () => bob.containers.delete(id),
      "list files": () => bob.containers.files.list(id),
      "retrieve a file": () => bob.containers.files.retrieve(file.id, place),
      "read a file": () => bob.containers.files.content.retrieve(file.id, place),
      "read a file by an own container": () =>
        bob.containers.files.content.retrieve(file.id, { container_id: own.id }),
      "delete a file": () => bob.containers.files.delete(file.id, place),
      "add a file": () => bob.containers.files.create(id, { file: new File(["x"], "x.txt") }),
      "copy a file": () => bob.containers.files.create(own.id, { file_id: upload.id }),
      "create with a file": () => bob.containers.create({ name: "x", file_ids: [upload.id] }),
      "run code": () =>
        bob.responses.create({ ...request, tools: [{ type: "code_interpreter", container: id }] }),
      "run commands": () =>
        bob.responses.create({
          ...request,
          tools: [{ type: "shell", environment: { type: "container_reference", container_id: id } }],
        }),
      "run code on a file": () =>
        bob.responses.create({
          ...request,
          tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: [upload.id] } }],
        }),
    };
    for (const [name, attempt] of Object.entries(attempts)) {
      const error = await Promise.resolve(attempt()).then(
        () => undefined,
        (reason: unknown) => reason as { status?: number; message?: string },
      );
      expect([name, error?.status]).toEqual([name, 404]);
      expect(error?.message).not.toContain("secret");
    }
    expect(await Array.fromAsync(ann.containers.files.list(id))).toHaveLength(1);
  });
});
