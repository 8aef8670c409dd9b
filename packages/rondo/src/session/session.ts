// Reads the entries of a session back into a conversation.

import { isPlainObject } from "../error/check.ts";
import { setOwn } from "../json/copy.ts";
import type { JsonObject } from "../json/json-value.ts";
import type { ContentPart, Message } from "../model/message.ts";
import { InvalidSessionError, UnknownSessionError } from "./session-errors.ts";
import {
  checkSessionId,
  type SessionEntry,
  type SessionStart,
  type SessionStore,
  type SessionSummary,
} from "./store.ts";

/** A session as it was stored. */
export interface Session extends Pick<SessionStart, "id" | "createdAt" | "forkedFrom"> {
  /** The conversation. */
  readonly messages: Message[];
  /** Data of the application. */
  readonly info: JsonObject;
}

/** Loads a session from a store. Throws an `UnknownSessionError` if it does not exist. */
export async function loadSession(store: SessionStore, id: string): Promise<Session> {
  const entries = await store.read(checkSessionId("id", id));
  if (!entries) throw new UnknownSessionError(id);
  return readSession(id, entries);
}

/** The session that the entries say. Throws an `InvalidSessionError`. */
export function readSession(id: string, entries: readonly unknown[]): Session {
  const fail = (index: number, problem: string) =>
    new InvalidSessionError(id, `entry ${index + 1} ${problem}.`);
  const [first] = entries;
  if (!isPlainObject(first) || first["type"] !== "session") throw fail(0, "is not the start of a session");
  if (first["version"] !== 1)
    throw fail(0, `has the version ${String(first["version"])}; this Rondo reads version 1`);
  const info: Record<string, unknown> = {};
  const messages: Message[] = [];
  for (const [index, entry] of entries.entries()) {
    if (index === 0) continue;
    if (!isPlainObject(entry)) throw fail(index, "is not an entry");
    const { type, message, to, messages: others, info: more } = entry;
    if (type === "message" && isMessage(message)) messages.push(message);
    else if (type === "rewind" && isCount(to, messages.length) && Array.isArray(others)) {
      if (!others.every(isMessage)) throw fail(index, "has something that is not a message");
      messages.length = to;
      for (const each of others) messages.push(each);
    } else if (type === "info" && isPlainObject(more))
      for (const [key, value] of Object.entries(more)) setOwn(info, key, value);
    else throw fail(index, "is not one that this Rondo knows");
  }
  const { createdAt, forkedFrom } = first;
  return {
    id,
    createdAt: typeof createdAt === "string" ? createdAt : new Date(0).toISOString(),
    ...(typeof forkedFrom === "string" && { forkedFrom }),
    messages,
    info: info as JsonObject,
  };
}

const titleLength = 80;

/** How a session appears in a list, from its first entries. */
export function summarize(
  entries: readonly SessionEntry[],
  updatedAt: Date,
): Omit<SessionSummary, "id"> | undefined {
  const [start] = entries;
  if (start?.type !== "session" || typeof start.createdAt !== "string") return undefined;
  const prompt = entries.find((it) => it.type === "message" && it.message?.role === "user");
  const title = prompt?.type === "message" ? textOf(prompt.message.content) : "";
  const info: JsonObject = {};
  for (const entry of entries) if (entry.type === "info") Object.assign(info, entry.info);
  return {
    createdAt: start.createdAt,
    updatedAt: updatedAt.toISOString(),
    ...(start.forkedFrom !== undefined && { forkedFrom: start.forkedFrom }),
    ...(title !== "" && {
      title: title
        .slice(0, titleLength * 4)
        .replace(/\s+/g, " ")
        .trim()
        .slice(0, titleLength),
    }),
    ...(Object.keys(info).length > 0 && { info }),
  };
}

function textOf(content: string | ContentPart[] | null): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (part.type === "text" ? part.text : "")).join(" ");
}

function isCount(value: unknown, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max;
}

function isMessage(value: unknown): value is Message {
  if (!isPlainObject(value)) return false;
  const { role, content, tool_calls: calls, tool_call_id: callId } = value;
  if (role === "user")
    return typeof content === "string" || (Array.isArray(content) && content.every(isPlainObject));
  if (role === "system") return typeof content === "string";
  if (role === "tool") return typeof content === "string" && typeof callId === "string";
  if (role !== "assistant" || !(typeof content === "string" || content === null)) return false;
  return calls === undefined || (Array.isArray(calls) && calls.every(isCall));
}

function isCall(value: unknown): boolean {
  if (!isPlainObject(value) || typeof value["id"] !== "string") return false;
  const called = value["function"];
  return (
    isPlainObject(called) && typeof called["name"] === "string" && typeof called["arguments"] === "string"
  );
}
