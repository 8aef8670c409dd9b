// Client hooks: block, redirect and audit calls, and sanitize prompts

import type { UserPromptSubmitEvent } from "rondo";
import { Client, type ClientHookHandler, type PostToolUseEvent, type PreToolUseEvent, tool } from "rondo";
import { scriptedModel } from "rondo/testing";

const write = tool("write", "Write a file.", { path: String, text: String }, ({ path }) => `wrote ${path}`);
const remove = tool("remove", "Delete a file.", { path: String }, ({ path }) => `deleted ${path}`);

// 1. A gate blocks or redirects a call. The model receives the reason.
const gate: ClientHookHandler<PreToolUseEvent> = ({ toolName, toolInput }) => {
  if (toolName === "remove") return { continue: false, reason: "nothing is deleted here" };
  const path = String(toolInput["path"]);
  return path.startsWith("/sandbox/")
    ? undefined
    : { modifiedInput: { ...toolInput, path: `/sandbox${path}` } };
};

// 2. An audit only observes. It sees every result, including those of blocked calls.
const audited: string[] = [];
const audit: ClientHookHandler<PostToolUseEvent> = ({ toolName, toolResult }) => {
  audited.push(`${toolName}: ${JSON.stringify(toolResult)}`);
};

// 3. A prompt is sanitized before it is sent, or rejected. History has the sanitized one.
const clean: ClientHookHandler<UserPromptSubmitEvent> = ({ prompt }) => {
  if (prompt.length > 1_000) return { continue: false, reason: "too long" };
  return { modifiedPrompt: prompt.replaceAll(/\d{4}-\d{4}-\d{4}/g, "[card number]") };
};

// 4. All of them together. Of several hooks for one event, the first decision wins.
await using client = new Client({
  // Scripted, so that this runs anywhere. For a real model: model: ollama("qwen3:8b"),
  model: scriptedModel([
    {
      calls: [
        { name: "write", input: { path: "/notes.txt", text: "Hello" } },
        { name: "remove", input: { path: "/notes.txt" } },
      ],
    },
    "I wrote it, but may not delete it.",
  ]),
  tools: [write, remove],
  autoExecuteTools: true,
  hooks: { user_prompt_submit: [clean], pre_tool_use: [gate], post_tool_use: [audit] },
});
await client.query("Write notes for 1234-5678-9012, then delete them.");
for await (const block of client.receiveMessages()) {
  if (block.type === "tool_use") console.log("runs:", block.name, block.input["path"]);
  if (block.type === "tool_use_error") console.log("does not run:", block.error);
  if (block.type === "text") console.log("says:", block.text);
}
// → runs: write /sandbox/notes.txt
// → does not run: Tool use blocked: nothing is deleted here
// → says: I wrote it, but may not delete it.
console.log(client.history[0]?.content); // → Write notes for [card number], then delete them.
for (const line of audited) console.log(line);
// → write: "wrote /sandbox/notes.txt"
// → remove: {"error":"Tool use blocked: nothing is deleted here","tool":"remove"}
