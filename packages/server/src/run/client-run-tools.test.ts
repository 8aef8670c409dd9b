// `shell`, `local_shell` and `apply_patch`: offered as functions, returned as the API's items, and run by the client.

import type { JsonObject } from "rondo";
import { describe, expect, test } from "vitest";
import { streamFlaws } from "../conformance/testkit/stream-checker.ts";
import { startScripted } from "./testkit/scripted.ts";
import { plain, stream, toFrames } from "./testkit/service.ts";

const kinds = [
  {
    type: "shell",
    input: { commands: ["ls", "pwd"], timeout_ms: 1000 },
    item: {
      type: "shell_call",
      status: "completed",
      action: { commands: ["ls", "pwd"], timeout_ms: 1000, max_output_length: null },
      environment: { type: "local" },
    },
    output: (callId: string): JsonObject => ({
      type: "shell_call_output",
      call_id: callId,
      output: [
        { stdout: "a.txt\n", stderr: "", outcome: { type: "exit", exit_code: 0 } },
        { stdout: "", stderr: "No.", outcome: { type: "timeout" } },
      ],
    }),
    read: "a.txt\n\n(exit code 0)\n\nNo.\n(timed out)",
  },
  {
    type: "local_shell",
    input: { command: ["ls", "-a"], working_directory: "/tmp" },
    item: {
      type: "local_shell_call",
      status: "completed",
      action: { type: "exec", command: ["ls", "-a"], env: {}, working_directory: "/tmp" },
    },
    output: (callId: string): JsonObject => ({
      type: "local_shell_call_output",
      id: callId,
      output: "a.txt",
    }),
    read: "a.txt",
  },
  {
    type: "apply_patch",
    input: { type: "update_file", path: "a.txt", diff: "@@\n-a\n+b" },
    item: {
      type: "apply_patch_call",
      status: "completed",
      operation: { type: "update_file", path: "a.txt", diff: "@@\n-a\n+b" },
    },
    output: (callId: string): JsonObject => ({
      type: "apply_patch_call_output",
      call_id: callId,
      status: "failed",
      output: "no such file",
    }),
    read: "The patch failed: no such file",
  },
] as const;

describe.each(kinds)("$type", ({ type, input, item, output, read }) => {
  test.each([
    ["with the response before", "previous"],
    ["with a history", "history"],
    ["with a history, answered by the item's id", "item"],
  ])("is called, run by the client and read by the model, %s", async (_how, how) => {
    const warnings: string[] = [];
    const { service, model } = await startScripted([{ calls: [{ name: type, input }] }, "Done."], {
      warnings,
    });
    const tools = [{ type }];
    const { events, response } = await stream(service, { input: "Go", tools });
    expect(streamFlaws(toFrames(events))).toEqual([]);
    expect(response.status).toBe("requires_action");
    expect(response.output).toMatchObject([item]);
    const [call] = response.output as unknown as { id: string; call_id: string }[];
    const answer = output((how === "item" && type === "local_shell" ? call?.id : call?.call_id) ?? "");
    const next =
      how === "previous"
        ? { previous_response_id: response.id, input: [answer] }
        : { input: [{ role: "user", content: "Go" }, ...response.output, answer] };
    const last = await plain(service, { ...next, tools });
    expect(last.status).toBe("completed");
    expect(model.requests[1]?.messages).toMatchObject([
      { role: "user", content: "Go" },
      { role: "assistant", tool_calls: [{ function: { name: type } }] },
      { role: "tool", content: read },
    ]);
    const called = model.requests[1]?.messages[1];
    const [made] = (called?.role === "assistant" && called.tool_calls) || [];
    expect(JSON.parse(made?.function.arguments ?? "")).toMatchObject(input);
    expect(warnings).toEqual([]);
  });
});

test("a shell streams its commands", async () => {
  const { service } = await startScripted([
    { calls: [{ name: "shell", input: { commands: ["ls", "pwd"] } }] },
  ]);
  const { events } = await stream(service, { input: "Go", tools: [{ type: "shell" }] });
  const own = events.filter((event) => event.type.startsWith("response.shell_call_command."));
  expect(own).toMatchObject([
    { type: "response.shell_call_command.added", command_index: 0, output_index: 0 },
    { type: "response.shell_call_command.delta", command_index: 0, delta: "ls" },
    { type: "response.shell_call_command.done", command_index: 0, command: "ls" },
    { type: "response.shell_call_command.added", command_index: 1 },
    { type: "response.shell_call_command.delta", command_index: 1, delta: "pwd" },
    { type: "response.shell_call_command.done", command_index: 1, command: "pwd" },
  ]);
});

test("a shell in a container is an error that says what to do, and a local one has its skills described", async () => {
  const { service, model } = await startScripted(["Done."]);
  const inContainer = { type: "shell", environment: { type: "container_auto" } };
  await expect(plain(service, { input: "Go", tools: [inContainer] })).rejects.toMatchObject({
    code: "unsupported_tool",
    param: "tools[0].environment",
    message: expect.stringContaining("leave the environment out"),
  });
  const skill = { name: "pdf", description: "Reads PDFs.", path: "/skills/pdf" };
  await plain(service, {
    input: "Go",
    tools: [{ type: "shell", environment: { type: "local", skills: [skill] } }],
  });
  const offered = model.requests[0]?.tools?.find(({ function: { name } }) => name === "shell");
  expect(offered?.function.description).toContain("- pdf: Reads PDFs. (/skills/pdf)");
});

test("a choice of the shell by its type makes the model call it", async () => {
  const { service, model } = await startScripted([
    { calls: [{ name: "shell", input: { commands: ["ls"] } }] },
  ]);
  await plain(service, { input: "Go", tools: [{ type: "shell" }], tool_choice: { type: "shell" } });
  expect(model.requests[0]?.toolChoice).toEqual({ name: "shell" });
});

test("a call of the shell without its output, and an output without its call, are errors", async () => {
  const { service } = await startScripted([{ calls: [{ name: "shell", input: { commands: ["ls"] } }] }]);
  const tools = [{ type: "shell" }];
  const { id, output } = await plain(service, { input: "Go", tools });
  const [call] = output as unknown as { call_id: string }[];
  const result = (callId = "") => ({
    type: "shell_call_output",
    call_id: callId,
    output: [{ stdout: "a.txt", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
  });
  const noOutput = { status: 400, message: expect.stringContaining("No tool output found") };
  for (const input of ["And?", [result("call_1")]])
    await expect(plain(service, { previous_response_id: id, input, tools })).rejects.toMatchObject(noOutput);
  await expect(plain(service, { input: [result(call?.call_id)], tools })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("No tool call found"),
  });
});
