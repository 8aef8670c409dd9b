// The model of a trial. It works on "task N": it calls a tool of the server, then the client's shell, and then says how
// many of the server's results it can still see. Anything else, such as a request for a title, gets a short text.

import type { ModelRequest } from "rondo/models";
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from "rondo/testing";

export interface Seen {
  /** The results of the server's tool in the conversation, by the task that was worked on. */
  readonly codes: Map<number, number>;
}

/** How each client's shell is called. */
const shells: Readonly<Record<string, (command: string) => object>> = {
  exec_command: (command) => ({ cmd: command }),
  bash: (command) => ({ command, description: "Makes a file" }),
  run_shell_command: (command) => ({ command, description: "Makes a file", is_background: false }),
  Bash: (command) => ({ command }),
  run_commands: (command) => ({ commands: [command] }),
};

export const serverTool = "lookup_code";

export function taskModel(seen: Seen): ScriptedModel {
  return scriptedModel((request) => answerTo(request, seen), {
    profile: { reasoningFields: ["reasoning_content"] },
  });
}

function answerTo({ messages, tools = [] }: ModelRequest, seen: Seen): ScriptedAnswer {
  const names = tools.map((it) => it.function.name);
  const shell = names.find((name) => name in shells);
  const at = messages.findLastIndex(({ role, content }) => role === "user" && taskOf(content) !== undefined);
  const task = taskOf(messages[at]?.content);
  if (task === undefined || shell === undefined) return { text: "A file" };
  const results = messages.slice(at + 1).filter(({ role }) => role === "tool").length;
  const isHere = names.includes(serverTool);
  const thinking = `Step ${results} of task ${task}.`;
  if (isHere && results === 0) return { thinking, calls: [{ name: serverTool, input: { task } }] };
  if (results === (isHere ? 1 : 0))
    return { thinking, calls: [{ name: shell, input: shells[shell]?.(`echo ${task} >> made.txt`) }] };
  const codes = JSON.stringify(messages.filter(({ role }) => role === "tool")).match(/code-\d+/g);
  seen.codes.set(task, new Set(codes).size);
  return { thinking, text: `Done with task ${task}.` };
}

function taskOf(content: unknown): number | undefined {
  const [, number] = /task (\d)/.exec(JSON.stringify(content) ?? "") ?? [];
  return number === undefined ? undefined : Number(number);
}
