// A real server for a test, on a free port, with a scripted model, and everything that its clients see written down.

import { type AnyTool, tool } from "rondo";
import { type ScriptedModel, type ScriptedStep, scriptedModel } from "rondo/testing";
import { onTestFinished } from "vitest";
import { resolveConfig } from "../../config/check-config.ts";
import type { ConfigInput } from "../../config/schema.ts";
import { startServer } from "../../http/server.ts";
import { type ChangeBody, Exchanges } from "./exchanges.ts";

export interface TestServer {
  /** With `/v1`. */
  readonly baseURL: string;
  readonly fetch: typeof fetch;
  readonly exchanges: Exchanges;
  /** The model behind the name `test`. */
  readonly model: ScriptedModel;
  /** Before the end of the test, where it starts many. */
  close(): Promise<void>;
}

export interface StartOptions {
  script: ScriptedStep | readonly ScriptedStep[];
  tools?: readonly AnyTool[];
  config?: ConfigInput | undefined;
  changeBody?: ChangeBody | undefined;
}

/** Starts a server for the length of a test. */
export async function start({ script, tools = [], config, changeBody }: StartOptions): Promise<TestServer> {
  const model = scriptedModel(script, { name: "test" });
  const server = await startServer(
    resolveConfig({
      port: 0,
      store: "memory",
      models: { test: model },
      tools: [...tools],
      log: { level: "silent" },
      shutdownMs: 0,
      ...config,
    }),
  );
  onTestFinished(() => server.close());
  const exchanges = new Exchanges(changeBody);
  return {
    baseURL: `${server.url}/v1`,
    fetch: exchanges.fetch,
    exchanges,
    model,
    close: () => server.close(),
  };
}

/** The tools of the server's config: a clock that stands still, and one that is broken. */
export const serverTools: readonly AnyTool[] = [
  tool("clock", "Tells the time in a city.", { city: String }, ({ city }) => `12:00 in ${city}`),
  tool("broken", "Never works.", {}, () => {
    throw new Error("The mainspring is broken.");
  }),
];
