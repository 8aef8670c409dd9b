// What the audit log says: one fact a line, as JSON. A line has names, ids, sizes and hashes; never a prompt, arguments,
// a result, a header or a key.

import { createHash } from "node:crypto";

/**
 * What happened. Of what takes time, `….started` is on the disk before it begins, and `….ended` names that line. If the
 * second is missing, the process died, or it is still going on.
 */
export type AuditAction =
  /** A process opened the log, or closed it. */
  | "server.started"
  | "server.stopped"
  /** A request of somebody who may make it. */
  | "request.started"
  | "request.ended"
  /** A request in a message of a WebSocket connection, whose own request goes on as long as it is open. */
  | "message.started"
  | "message.ended"
  /** A request that was refused before it was looked at: no key, a wrong one, too many, a foreign web page. */
  | "request.denied"
  /** A request that deletes something (`target`), or that cancels a response. */
  | "deletion.started"
  | "deletion.ended"
  | "cancellation.started"
  | "cancellation.ended"
  /** A request became a response. */
  | "response.created"
  /** A process works on a response in the background: for the first time, or again after a crash. */
  | "run.started"
  | "run.ended"
  /** A tool runs here. */
  | "call.started"
  | "call.ended"
  /** A call of a model that does not run. */
  | "call.refused"
  /** A call waits for a person, who then allows it or does not. */
  | "approval.asked"
  | "approval.given"
  | "approval.denied"
  /** The server deletes what is older than `keepDays`, files that expired, or a container (`target`). */
  | "expiry.started"
  | "expiry.ended"
  /** The log itself: it ended in the middle of a line, or lines could not be written. */
  | "log.repaired"
  | "log.gap";

/** Which tool a call belongs to. */
export interface AuditedTool {
  readonly host: string;
  readonly label: string;
  readonly name: string;
}

export interface AuditFact {
  readonly action: AuditAction;
  /** The number of the line that this one ends. */
  readonly started?: number | undefined;
  readonly owner?: string | undefined;
  /** Which key was used: the beginning of its hash, or `jwt` and the id of the token. */
  readonly key?: string | undefined;
  /** Whence the request came: the peer of the connection. */
  readonly address?: string | undefined;
  /** What the request says of that in `X-Forwarded-For`; anyone can write it. */
  readonly forwardedFor?: string | undefined;
  readonly requestId?: string | undefined;
  readonly method?: string | undefined;
  /** The pattern of the path. */
  readonly route?: string | undefined;
  /** The ids in the path, in its order, with `/` between them. */
  readonly target?: string | undefined;
  readonly responseId?: string | undefined;
  readonly model?: string | undefined;
  readonly background?: boolean | undefined;
  /** Whether another process worked on the run before. */
  readonly resumed?: boolean | undefined;
  readonly callId?: string | undefined;
  readonly approvalId?: string | undefined;
  readonly tool?: AuditedTool | undefined;
  readonly argumentsBytes?: number | undefined;
  readonly argumentsSha256?: string | undefined;
  readonly resultBytes?: number | undefined;
  readonly resultSha256?: string | undefined;
  /** How it ended: `ok`, `error`, the status of a response. */
  readonly outcome?: string | undefined;
  readonly status?: number | undefined;
  /** The code of an error. */
  readonly error?: string | undefined;
  /** Why a call was refused. */
  readonly reason?: string | undefined;
  readonly ms?: number | undefined;
  /** How many facts, lines or things it stands for. */
  readonly count?: number | undefined;
  readonly files?: number | undefined;
  readonly version?: string | undefined;
  readonly pid?: number | undefined;
}

/** What every line of a process has. */
export interface AuditSource {
  /** The machine. */
  readonly node: string;
  /** This process, from its start on. */
  readonly boot: string;
}

/** The version of the lines. */
export const lineVersion = 1;

/** Longer texts are cut, and get a hash of the whole: two of them never look the same. */
const maxLength: Readonly<Record<string, number>> = { owner: 700, target: 400, forwardedFor: 100, key: 100 };
const usualMaxLength = 200;

/** Characters that JSON allows, and that end a line or drive a terminal for some readers. */
const unsafe = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** The line of a fact, without its end. */
export function toLine(
  { node, boot }: AuditSource,
  number: number,
  time: Date,
  { action, ...facts }: AuditFact,
): string {
  const line: Record<string, unknown> = {
    v: lineVersion,
    time: time.toISOString(),
    node: limited(node, usualMaxLength),
    boot,
    n: number,
    action,
  };
  for (const [name, value] of Object.entries(facts))
    if (value !== undefined) line[wireName(name)] = limitedValue(name, value);
  return safeJson(line);
}

/** JSON on one line, which no terminal or editor reads as anything else. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(unsafe, escaped);
}

/** Size and hash of content that the log must not have. */
export function fingerprint(content: string): { bytes: number; sha256: string } {
  return { bytes: Buffer.byteLength(content), sha256: sha256(content) };
}

const wireNames = new Map<string, string>();

function wireName(name: string): string {
  let known = wireNames.get(name);
  if (known === undefined) {
    known = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    wireNames.set(name, known);
  }
  return known;
}

function limitedValue(name: string, value: string | number | boolean | AuditedTool): unknown {
  if (typeof value === "string") return limited(value, maxLength[name] ?? usualMaxLength);
  if (typeof value !== "object") return value;
  const { host, label, name: own } = value;
  return {
    host: limited(host, usualMaxLength),
    label: limited(label, usualMaxLength),
    name: limited(own, usualMaxLength),
  };
}

function limited(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…${sha256(text).slice(0, 16)}`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
