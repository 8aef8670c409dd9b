// The key of a model server stays with this server, whatever the model server says about it: clients do not see it,
// the store does not keep it, and the log does not either.

import { openaiCompatible } from "rondo";
import { type ServerStep, startModelServer } from "rondo/testing";
import { expect, test, vi } from "vitest";
import { resolveConfig } from "../config/check-config.ts";
import { createLogger } from "../http/log.ts";
import { startServer } from "../http/server.ts";

const key = "opensesame-4711-opensesame";
const said = { error: { message: `Wrong: the key '${key}', sent as Bearer ${key}`, type: "x", code: "y" } };

const answers: Record<string, ServerStep> = {
  ...Object.fromEntries(
    [400, 401, 403, 404, 429, 500, 503].map((status) => [status, { status, body: said }]),
  ),
  "a page": { body: `<h1>${key}</h1>` },
  "text that is no stream": { body: key },
  "a redirect": { status: 302, headers: { location: `http://127.0.0.1/?key=${key}` } },
  "an error in the stream": { chunks: [said] },
};

test.each(Object.entries(answers))(
  "a model server that answers with %s and the key",
  async (_name, answer) => {
    await using upstream = await startModelServer(answer);
    let log = "";
    await using server = await startServer(
      resolveConfig({
        port: 0,
        store: "memory",
        models: { test: openaiCompatible({ baseURL: upstream.url, model: "m", apiKey: key, retry: false }) },
        // A background run waits for a server that is away, and says so in the log; not for longer than this.
        runs: { modelWaitMs: 200 },
        shutdownMs: 0,
      }),
      { logger: createLogger({ level: "debug", write: (lines) => (log += lines) }) },
    );
    const ask = async (body?: object, path = "") => {
      const headers = { "content-type": "application/json" };
      const init = body && {
        method: "POST",
        headers,
        body: JSON.stringify({ model: "test", input: "Hi.", ...body }),
      };
      return (await fetch(`${server.url}/v1/responses${path}`, init ?? {})).text();
    };
    const plain = await ask({});
    expect(JSON.parse(plain)).toMatchObject({ error: { message: expect.stringMatching(/\w{4}/) } });
    const streamed = await ask({ stream: true });
    expect(streamed).toContain("event: response.failed");
    const { id } = JSON.parse(await ask({ background: true })) as { id: string };
    const followed = await ask(undefined, `/${id}?stream=true`);
    expect(followed).toContain("event: response.failed");
    const listed = await ask();
    await vi.waitFor(() => expect(log).toContain("A model failed."));
    expect([plain, streamed, followed, listed, log].join("\n")).not.toContain(key);
  },
);
