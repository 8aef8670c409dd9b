// The Agents SDK with its shell and its editor: what the server returns is what the SDK runs.

import { Agent, applyPatchTool, OpenAIProvider, Runner, shellTool } from "@openai/agents";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { start } from "./testkit/start.ts";

test.each([false, true])("the Agents SDK runs a shell and patches a file (streamed: %s)", async (stream) => {
  const ran: string[] = [];
  const server = await start({
    script: [
      { calls: [{ name: "shell", input: { commands: ["echo hello"] } }] },
      { calls: [{ name: "apply_patch", input: { type: "create_file", path: "a.txt", diff: "+hello" } }] },
      "All done.",
    ],
  });
  const agent = new Agent({
    name: "worker",
    model: "test",
    tools: [
      shellTool({
        shell: {
          run: async ({ commands }) => {
            ran.push(...commands);
            return { output: [{ stdout: "hello\n", stderr: "", outcome: { type: "exit", exitCode: 0 } }] };
          },
        },
      }),
      applyPatchTool({
        editor: {
          createFile: async ({ path, diff }) => {
            ran.push(`${path}: ${diff}`);
            return { status: "completed", output: "Created a.txt" };
          },
          updateFile: async () => undefined,
          deleteFile: async () => undefined,
        },
      }),
    ],
  });
  const client = new OpenAI({ baseURL: server.baseURL, apiKey: "none", fetch: server.fetch, maxRetries: 0 });
  const runner = new Runner({
    modelProvider: new OpenAIProvider({ openAIClient: client, useResponses: true }),
    tracingDisabled: true,
  });
  const result = stream ? await runner.run(agent, "Go", { stream: true }) : await runner.run(agent, "Go");
  if ("completed" in result) await result.completed;
  expect(result.finalOutput).toBe("All done.");
  expect(ran).toEqual(["echo hello", "a.txt: +hello"]);
  expect(server.model.requests[2]?.messages.filter(({ role }) => role === "tool")).toMatchObject([
    { content: expect.stringContaining("hello\n\n(exit code 0)") },
    { content: "Created a.txt" },
  ]);
  expect(server.exchanges.flaws()).toEqual([]);
});
