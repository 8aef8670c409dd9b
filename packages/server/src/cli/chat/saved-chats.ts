// The chats of this user that are stored: which one is meant, and what a chat keeps beside its messages.

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type JsonObject,
  loadSession,
  type Session,
  type SessionEntry,
  type SessionStore,
  type SessionSummary,
} from "rondo";
import { defaultSessionFolder, folderSessions, readSessionFile } from "rondo/sessions";
import type { Environment } from "../../config/overrides.ts";

/** What a chat keeps beside its messages, so that it can be continued without flags. */
export interface ChatInfo {
  /** The folder that it began in. */
  readonly cwd?: string;
  readonly model?: string;
  readonly endpoint?: string;
  /** What the endpoint is. */
  readonly place?: "server" | "model";
  readonly systemPrompt?: string;
  /** The last response of a server, and how many messages it ends. */
  readonly response?: { readonly id: string; readonly messages: number };
}

const shownChats = 10;
/** Shorter ones are more likely mistakes than ids. */
const shortestPrefix = 4;

export class SavedChats {
  readonly store: SessionStore;
  readonly #cwd: string;

  constructor(env: Environment, cwd: string) {
    this.store = folderSessions(defaultSessionFolder(env));
    this.#cwd = cwd;
  }

  /** The chats, the last used first. */
  async recent(): Promise<SessionSummary[]> {
    return this.store.list({ limit: shownChats });
  }

  /** The last chat of this folder, else of any. Throws an error for the user if there is none. */
  async latest(): Promise<Session> {
    const all = await this.store.list({ limit: Number.POSITIVE_INFINITY });
    const last = all.find(({ info }) => (info as ChatInfo | undefined)?.cwd === this.#cwd) ?? all[0];
    if (!last) throw new Error("There is no chat to continue yet. `rondo chat` begins one.");
    return loadSession(this.store, last.id);
  }

  /** A chat by its id, or by the beginning of it. Throws an error for the user. */
  async find(text: string): Promise<Session> {
    const all = await this.store.list({ limit: Number.POSITIVE_INFINITY });
    const exact = all.filter(({ id }) => id === text);
    const found =
      exact.length > 0 ? exact : all.filter(({ id }) => text.length >= shortestPrefix && id.startsWith(text));
    const [only, ...others] = found;
    if (only && others.length === 0) return loadSession(this.store, only.id);
    const names = (only ? found : all).slice(0, shownChats).map(describeChat);
    throw new Error(
      [
        only
          ? `Several chats begin with '${text}':`
          : `There is no chat '${text}'.${names.length > 0 ? " The last ones:" : ""}`,
        ...names,
      ].join("\n"),
    );
  }

  /** A chat that was saved to a file. Throws an error for the user. */
  async readFile(file: string): Promise<Session> {
    return readSessionFile(resolve(this.#cwd, file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT")
        throw new Error(`There is no file ${file}, and no chat of that id. /load lists the chats.`);
      throw error;
    });
  }

  /** Saves entries to a file. Never overwrites one: names are easily mistyped. */
  async writeFile(file: string, entries: readonly SessionEntry[]): Promise<void> {
    const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    await writeFile(resolve(this.#cwd, file), text, { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
      throw notSaved(file, error);
    });
  }
}

/** A store whose new sessions begin with the infos of a chat. */
export function withInfo(store: SessionStore, infoOf: () => ChatInfo): SessionStore {
  return {
    ...store,
    append(id, [first, ...others]) {
      const entries =
        first?.type === "session"
          ? [first, infoEntry(infoOf()), ...others]
          : [first as SessionEntry, ...others];
      return store.append(id, entries);
    },
  };
}

export function infoEntry(info: ChatInfo): SessionEntry {
  return { type: "info", info: JSON.parse(JSON.stringify(info)) as JsonObject };
}

/** The infos of a stored chat, as far as they are what they should be: the file may be anyone's. */
export function chatInfoOf({ info }: Session): ChatInfo {
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const { cwd, model, endpoint, place, systemPrompt } = info;
  const { id, messages } = (info["response"] ?? {}) as { id?: unknown; messages?: unknown };
  const known = {
    cwd: text(cwd),
    model: text(model),
    endpoint: text(endpoint),
    systemPrompt: text(systemPrompt),
  };
  return {
    ...(Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as ChatInfo),
    ...((place === "server" || place === "model") && { place }),
    ...(typeof id === "string" && typeof messages === "number" && { response: { id, messages } }),
  };
}

/** A line of a list. */
export function describeChat({ id, updatedAt, title = "" }: SessionSummary): string {
  return `  ${id.slice(0, 8)}  ${updatedAt.slice(0, 16).replace("T", " ")}  ${title}`;
}

function notSaved(file: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EEXIST")
    return new Error(`${file} is there already, and was left as it is. Choose another name.`);
  return new Error(`${file} could not be written: ${message}`, { cause: error });
}
