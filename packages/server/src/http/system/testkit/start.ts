// A real server for tests of the console's routes, and requests to it.

import { startModelServer } from "rondo/testing";
import { onTestFinished, vi } from "vitest";
import type { ConfigInput } from "../../../config/schema.ts";
import { hashKey, newKey } from "../../auth-keys.ts";
import { type StartOptions, startServer } from "../../server.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into it without ceremony.
type Json = any;

export interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** Starts it for the length of a test. */
export async function start(config: ConfigInput, options?: StartOptions) {
  const server = await startServer(
    {
      port: 0,
      store: "memory",
      log: { level: "silent" },
      sandbox: { kind: "none" },
      shutdownMs: 0,
      ...config,
    },
    options,
  );
  onTestFinished(() => server.close());
  const send = async (path: string, init: RequestInit, key?: string): Promise<Answer> => {
    const headers = {
      "content-type": "application/json",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    };
    const reply = await fetch(server.url + path, { ...init, headers });
    return { status: reply.status, body: await reply.json() };
  };
  return {
    ...server,
    get: (path: string, key?: string) => send(path, {}, key),
    post: (path: string, body: unknown, key?: string, signal?: AbortSignal) =>
      send(
        path,
        {
          method: "POST",
          body: typeof body === "string" ? body : JSON.stringify(body),
          signal: signal ?? null,
        },
        key,
      ),
  };
}

/** Two owners, with the part of a config that knows them. */
export function twoOwners() {
  const keys = { ann: newKey(), bob: newKey() };
  const auth = { keys: Object.entries(keys).map(([owner, key]) => ({ owner, hash: hashKey(key) })) };
  return { keys, auth };
}

/** An address at which nothing listens. */
export async function deadUrl(): Promise<string> {
  const server = await startModelServer([]);
  await server.close();
  return server.url;
}

/** The body of a reply, once it is as wanted: servers that are asked may take longer than a page waits. */
export async function eventually(
  get: (path: string, key?: string) => Promise<Answer>,
  path: string,
  isReady: (body: Json) => boolean,
  key?: string,
): Promise<Json> {
  return vi.waitUntil(
    async () => {
      const { body } = await get(path, key);
      return isReady(body) ? body : undefined;
    },
    { timeout: 10_000 },
  );
}
