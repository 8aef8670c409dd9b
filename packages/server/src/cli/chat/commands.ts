// The commands that can be typed instead of a prompt.

import type { ChatConversation } from "./conversation.ts";
import { describeChat, type SavedChats } from "./saved-chats.ts";

export interface CommandContext {
  readonly conversation: ChatConversation;
  readonly chats: SavedChats;
  readonly signal: AbortSignal;
  /** Writes a line beside the answers. */
  readonly say: (line: string) => void;
}

interface Command {
  /** The placeholder of its argument. Default: it has none. */
  readonly argument?: string;
  readonly description: string;
  /** Throws an error for the user. */
  run(argument: string, context: CommandContext): Promise<void> | void;
}

const commands: Readonly<Record<string, Command>> = {
  help: {
    description: "Show this.",
    run(_, { say }) {
      const names = Object.entries(commands).map(([name, { argument = "" }]) =>
        `/${name} ${argument}`.trim(),
      );
      const width = Math.max(...names.map(({ length }) => length));
      for (const [index, { description }] of Object.values(commands).entries())
        say(`  ${names[index]?.padEnd(width)}  ${description}`);
      for (const line of keys) say(line);
    },
  },
  clear: {
    description: "Begin a new conversation.",
    async run(_, { conversation, say }) {
      await conversation.clear();
      say("A new conversation has begun.");
    },
  },
  model: {
    argument: "NAME",
    description: "Go on with another model; without a name, show which it is.",
    async run(name, { conversation, say, signal }) {
      if (name !== "") await conversation.use(name, signal);
      say(`The model is ${conversation.label}.`);
    },
  },
  models: {
    description: "List the models.",
    async run(_, { conversation, say, signal }) {
      const names = await conversation.models(signal);
      for (const name of names) say(`  ${name}`);
      if (names.length === 0) say("There are no models.");
    },
  },
  tools: {
    description: "List the tools that run here.",
    run(_, { conversation, say }) {
      for (const { name, description } of conversation.tools) say(`  ${name}: ${description}`);
      if (conversation.tools.length === 0)
        say("There are none. Start the chat with --tools FILE to have some.");
    },
  },
  save: {
    argument: "FILE",
    description: "Save the conversation to a file.",
    async run(file, { conversation, chats, say }) {
      if (file === "") throw new Error("/save needs the name of a file: /save chat.jsonl");
      await chats.writeFile(file, conversation.entries());
      say(`Saved to ${file}.`);
    },
  },
  load: {
    argument: "CHAT",
    description: "Continue a chat, by its id or from a file; without one, list the last chats.",
    async run(name, { conversation, chats, say }) {
      if (name === "") {
        const recent = await chats.recent();
        for (const chat of recent) say(describeChat(chat));
        say(recent.length === 0 ? "There are no chats yet." : "/load ID continues one.");
        return;
      }
      const isId = /^[A-Za-z0-9-]+$/.test(name);
      if (isId) await conversation.resume(await chats.find(name), false);
      else await conversation.adopt(await chats.readFile(name));
      say(`Loaded: ${conversation.messages.length} messages.`);
    },
  },
  exit: { description: "Leave.", run() {} },
};

const keys = [
  "Ctrl-C interrupts the answer, and leaves when pressed again. Ctrl-D leaves.",
  "The arrow keys bring back prompts, and Ctrl-R searches them; one that begins with a space is not kept.",
  "Tab completes commands, models, chats and files.",
  "A line that ends in \\ goes on in the next one, and so does Alt-Enter.",
];

/** The names of the commands. */
export function commandNames(): string[] {
  return Object.keys(commands);
}

/** Whether a line is a command. `/usr/bin` and `/ ` are not: they may begin a prompt. */
export function isCommand(line: string): boolean {
  return /^\/[a-z]+(\s|$)/i.test(line);
}

/** Runs a command line; `exit` means leave. Throws an error for the user. */
export async function runCommand(line: string, context: CommandContext): Promise<"done" | "exit"> {
  const [, name = "", argument = ""] = /^\/(\S+)\s*(.*)$/s.exec(line) ?? [];
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command)
    throw new Error(
      `There is no command /${name}. /help lists those that there are; to send it to the model, begin with a space.`,
    );
  await command.run(argument.trim(), context);
  return name === "exit" ? "exit" : "done";
}
