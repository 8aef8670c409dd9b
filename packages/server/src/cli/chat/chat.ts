// `rondo chat`: a conversation with a model, or with a Rondo server, in a terminal or through a pipe.

import { Command } from "commander";
import { setLogger } from "rondo";
import { type CliIo, Exit, exitCodes } from "../cli-io.ts";
import { interruptible } from "../interruptible.ts";
import { httpUrl } from "../responses/server-flags.ts";
import { ChatSession } from "./chat-session.ts";
import { type ModelFlags, type OpenOptions, openConversation } from "./open-conversation.ts";
import { chatInPipe } from "./piped-chat.ts";
import { type ChatInfo, chatInfoOf, SavedChats } from "./saved-chats.ts";
import { createScreen } from "./screen.ts";
import { chatInTerminal } from "./terminal-chat.ts";
import { distinctTools, toolsOfFile } from "./tool-source.ts";

interface ChatFlags extends ModelFlags {
  readonly tools?: string[];
  readonly mcp?: string[];
  readonly continue?: true;
  readonly resume?: string;
  readonly fork?: boolean;
}

const examples = `
Examples:
  rondo chat                                       The first model that is found on this machine.
  rondo chat --model qwen3:8b --tools tools.ts     With tools of your own.
  rondo chat --mcp "npx -y @modelcontextprotocol/server-everything"
  rondo chat --server http://127.0.0.1:4500        Through a Rondo server.
  rondo chat --continue                            The last chat of this folder.
  echo "What is 25 + 17?" | rondo chat             Just the answer, for scripts.

In the chat, /help shows the commands. Ctrl-C interrupts the answer and leaves when pressed again.`;

/** The command. Tests pass their own `discover`. */
export function chatCommand(io: CliIo, discover?: OpenOptions["discover"]): Command {
  return new Command("chat")
    .description("Talk with a model. Without flags: the first that is found on this machine, else a demo.")
    .argument("[prompt...]", "What to ask first; in a pipe, the only prompt.")
    .option("--model <name>", "The model. Default: the first one that there is.")
    .option(
      "--model-url <url>",
      "The model server, such as http://localhost:11434/v1. (RONDO_MODEL_URL)",
      httpUrl,
    )
    .option("--server <url>", "A Rondo server to talk to instead of a model. (RONDO_SERVER)", httpUrl)
    .option("--api-key <key>", "The key for either. (RONDO_MODEL_API_KEY, RONDO_API_KEY)")
    .option(
      "--tools <file>",
      "A module that exports tools made with tool(). May be given more than once.",
      addTo,
    )
    .option(
      "--mcp <server>",
      "An MCP server whose tools are used: its command in quotes, or its URL. May be given more than once.",
      addTo,
    )
    .option("--system <text>", "What the model is told first.")
    .option("--continue", "Continue the last chat of this folder, else the last of all.")
    .option("--resume <id>", "Continue a chat by its id, or the beginning of it; /load lists them.")
    .option("--fork", "With either: continue in a copy, and leave the original as it is.")
    .addHelpText("after", examples)
    .action((words: string[], flags: ChatFlags, command: Command) => {
      if (flags.server !== undefined && flags.modelUrl !== undefined)
        command.error("error: --server and --model-url cannot both be given: each names who to talk to.");
      if (flags.continue && flags.resume !== undefined)
        command.error("error: --continue and --resume cannot both be given: each names a chat.");
      if (flags.fork && !flags.continue && flags.resume === undefined)
        command.error("error: --fork needs a chat to copy: --continue or --resume ID.");
      return chat(io, words.join(" ").trim() || undefined, flags, discover);
    });
}

async function chat(
  io: CliIo,
  first: string | undefined,
  { tools: files = [], mcp: servers = [], continue: isContinued, resume, fork = false, ...given }: ChatFlags,
  discover: OpenOptions["discover"],
): Promise<void> {
  const screen = createScreen(io);
  await using owned = new AsyncDisposableStack();
  const chats = new SavedChats(io.env, io.cwd);
  const resumed = resume !== undefined ? await chats.find(resume) : isContinued && (await chats.latest());
  const flags = resumed ? { ...flagsOf(chatInfoOf(resumed), given), ...given } : given;
  // Scripts leave nothing behind, unless they continue a chat.
  const saved = screen.isInteractive || resumed ? { chats, cwd: io.cwd } : undefined;
  // Set when there is a chat; nothing is asked before.
  let session: ChatSession | undefined;
  const approve = screen.isInteractive ? async () => (await session?.confirm()) ?? false : undefined;
  const { conversation, notice } = await interruptible(io, async (signal) => {
    const onWarning = (message: string) => io.writeError(`rondo: ${message}\n`);
    const opened = await Promise.allSettled([
      ...files.map((file) => toolsOfFile(file, io.cwd)),
      ...servers.map(async (server) => {
        // Loaded only when needed: MCP is large.
        const { toolsOfMcpServer } = await import("./mcp-source.ts");
        return toolsOfMcpServer(server, { cwd: io.cwd, signal, onWarning });
      }),
    ]);
    // All of them, so that none is left open if another one failed.
    const sources = opened.flatMap((source) =>
      source.status === "fulfilled" ? owned.use(source.value) : [],
    );
    for (const source of opened) if (source.status === "rejected") throw source.reason;
    const tools = distinctTools(
      sources.flatMap((source) => source.tools),
      onWarning,
    );
    return openConversation({ flags, tools, saved, env: io.env, signal, approve, discover });
  });
  owned.use(conversation);
  if (resumed) await conversation.resume(resumed, fork);
  const chatting = new ChatSession({ io, screen, conversation, chats });
  session = chatting;
  // Warnings of the library become lines of the chat, instead of writing over it.
  setLogger({ warn: (message) => chatting.note(message) });
  try {
    if (notice !== undefined) session.note(notice);
    if (screen.isInteractive) {
      session.note(`Chatting with ${conversation.label}. /help shows the commands, Ctrl-D leaves.`);
      if (resumed) session.showLast();
    } else if (first === undefined && io.input.isTTY) {
      session.note("Write a prompt and press Enter; Ctrl-D ends.");
    }
    const exitCode = screen.isInteractive
      ? await chatInTerminal(session, io, screen, first)
      : await chatInPipe(session, io, first);
    if (exitCode !== exitCodes.ok) throw new Exit(exitCode);
  } finally {
    setLogger();
  }
}

/** What a chat that is continued was started with, where the flags do not say otherwise. */
function flagsOf({ model, endpoint, place, systemPrompt }: ChatInfo, given: ModelFlags): ModelFlags {
  const isElsewhere = given.server !== undefined || given.modelUrl !== undefined;
  return {
    ...(model !== undefined && !isElsewhere && { model }),
    ...(endpoint !== undefined && !isElsewhere && { [place === "server" ? "server" : "modelUrl"]: endpoint }),
    ...(systemPrompt !== undefined && { system: systemPrompt }),
  };
}

function addTo(value: string, list: string[] | undefined): string[] {
  return [...(list ?? []), value];
}
