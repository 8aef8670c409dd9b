// Completes a line of a chat for the Tab key: commands, what they take, and files.

import { completePath, isDrawable } from "../terminal/complete-path.ts";
import { commandNames } from "./commands.ts";
import type { ChatConversation } from "./conversation.ts";
import type { SavedChats } from "./saved-chats.ts";

/** What `readline` wants: the completions, and which end of the line they replace. */
export type Completion = [completions: string[], replaced: string];

export interface CompletionSources {
  readonly conversation: ChatConversation;
  readonly chats: SavedChats;
  readonly cwd: string;
}

/** Long enough for a model server on this machine. */
const listMs = 2000;
const mostModels = 1000;

/** Never throws: what cannot be listed has no completions. */
export async function completeLine(line: string, sources: CompletionSources): Promise<Completion> {
  const [, command, argument = ""] = /^\/([a-z]+)\s+(.*)$/.exec(line) ?? [];
  if (/^\/[a-z]*$/.test(line))
    return startingWith(
      line,
      commandNames().map((name) => `/${name} `),
    );
  const word = command === undefined ? (/\S*$/.exec(line)?.[0] ?? "") : argument;
  try {
    if (command === "model") {
      const names = await sources.conversation.models(AbortSignal.timeout(listMs));
      return startingWith(word, names.filter(isDrawable).slice(0, mostModels));
    }
    const files = command === undefined && word === "" ? [] : await completePath(word, sources.cwd);
    if (command !== "load") return [files, word];
    const ids = (await sources.chats.recent()).map(({ id }) => id.slice(0, 8));
    return [[...startingWith(word, ids)[0], ...files], word];
  } catch {
    return [[], word];
  }
}

function startingWith(begun: string, names: readonly string[]): Completion {
  return [names.filter((name) => name.startsWith(begun)), begun];
}
