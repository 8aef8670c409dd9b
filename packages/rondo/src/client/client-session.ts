// The session of a client: loads its conversation, and saves what is new of it.

import { InvalidArgumentError, InvalidTypeError } from "../error/argument-errors.ts";
import type { Message } from "../model/message.ts";
import { loadSession } from "../session/session.ts";
import { checkSessionId, type SessionEntry, type SessionStart, type SessionStore } from "../session/store.ts";

/** The options of a client that concern its session, checked. */
export interface SessionChoice {
  readonly session: string | undefined;
  readonly fork: boolean;
  readonly sessionStore: SessionStore | undefined;
}

export class ClientSession {
  readonly id: string;
  readonly #choice: SessionChoice;
  #store: SessionStore | undefined;
  #lock: AsyncDisposable | undefined;
  /** What the store has, by reference, and the list in which the client had it. */
  #saved: readonly Message[] = [];
  #savedList: readonly Message[] = [];
  #isStored: boolean;
  #isLoaded = false;
  #loading: Promise<Message[] | undefined> | undefined;
  #forkedFrom: string | undefined;
  #saving: Promise<void> = Promise.resolve();

  private constructor(choice: SessionChoice) {
    const { session = "new", fork } = choice;
    this.#choice = choice;
    this.#isStored = session !== "new" && !fork;
    this.id = this.#isStored ? session : crypto.randomUUID();
  }

  /** The session of a client; undefined if it has none. */
  static of(choice: SessionChoice): ClientSession | undefined {
    const { session, fork, sessionStore } = choice;
    if (fork && (session === undefined || session === "new"))
      throw new InvalidArgumentError({
        field: "fork",
        expected: "the id of a session to copy, as the option session",
        received: session,
      });
    return session === undefined && !sessionStore ? undefined : new ClientSession(choice);
  }

  /** Whether the conversation is still to be loaded. */
  get isPending(): boolean {
    return !this.#isLoaded && (this.#isStored || this.#choice.fork);
  }

  /** Loads the conversation, the first time; gives undefined if there is nothing to load. */
  async load(): Promise<Message[] | undefined> {
    if (this.#isLoaded) return undefined;
    if (this.#loading) return this.#loading.then(() => undefined);
    this.#loading = this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #load(): Promise<Message[] | undefined> {
    const store = await this.#open();
    const { session = "new", fork } = this.#choice;
    const from = this.#isStored ? this.id : fork ? session : undefined;
    if (this.#isStored) this.#lock = await store.lock?.(this.id);
    try {
      const loaded = from === undefined ? undefined : await loadSession(store, from);
      if (!this.#isStored) this.#forkedFrom = from;
      else this.#saved = loaded?.messages ?? [];
      this.#isLoaded = true;
      return loaded && [...loaded.messages];
    } catch (error) {
      await this.#release();
      throw error;
    }
  }

  /** Whether the store does not have the conversation as it is. Cheap: asked for each piece of an answer. */
  needsSave(messages: readonly Message[]): boolean {
    const isSame = messages === this.#savedList && messages.length === this.#saved.length;
    return !isSame || messages.at(-1) !== this.#saved.at(-1);
  }

  /** Appends what is new; if the conversation was changed, all that follows the change. */
  async save(messages: readonly Message[]): Promise<void> {
    const saving = this.#saving.catch(() => {}).then(() => this.#write(messages));
    this.#saving = saving;
    await saving;
  }

  /** Lets others write. The next `load()` reads what they did. */
  async close(): Promise<void> {
    await this.#saving.catch(() => {});
    await this.#release();
    if (this.#isStored) this.#isLoaded = false;
  }

  async #write(messages: readonly Message[]): Promise<void> {
    const now = [...messages];
    let same = 0;
    while (same < this.#saved.length && now[same] === this.#saved[same]) same += 1;
    const added = now.slice(same);
    const entries: SessionEntry[] =
      same < this.#saved.length
        ? [{ type: "rewind", to: same, messages: added }] // one entry: a torn one changes nothing
        : added.map((message) => ({ type: "message", message }));
    if (entries.length > 0) {
      const store = await this.#open();
      if (!this.#isStored) {
        this.#lock ??= await store.lock?.(this.id);
        entries.unshift(this.#start());
      }
      await store.append(this.id, entries);
      this.#isStored = true;
    }
    this.#saved = now;
    this.#savedList = messages;
  }

  #start(): SessionStart {
    const createdAt = new Date().toISOString();
    const forkedFrom = this.#forkedFrom;
    return {
      type: "session",
      version: 1,
      id: this.id,
      createdAt,
      ...(forkedFrom !== undefined && { forkedFrom }),
    };
  }

  async #open(): Promise<SessionStore> {
    this.#store ??= this.#choice.sessionStore ?? (await import("#sessions")).defaultSessionStore();
    return this.#store;
  }

  async #release(): Promise<void> {
    const lock = this.#lock;
    this.#lock = undefined;
    await lock?.[Symbol.asyncDispose]();
  }
}

export function checkSession(field: string, value: unknown): string {
  return value === "new" ? value : checkSessionId(field, value);
}

export function checkSessionStore(field: string, value: unknown): SessionStore {
  const store = value as SessionStore | null;
  for (const method of ["read", "append", "list", "delete"] as const)
    if (typeof store?.[method] !== "function")
      throw new InvalidTypeError({
        field,
        expected: `a store of sessions, with the method ${method}()`,
        received: value,
        hint: 'folderSessions("…") of rondo/sessions and memorySessions() give one.',
      });
  return store as SessionStore;
}
