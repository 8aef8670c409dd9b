// A service with an MCP server that writes down its calls.

import { type ScriptedStep, scriptedModel } from "rondo/testing";
import { expect, onTestFinished } from "vitest";
import { flawsOf } from "../../conformance/testkit/public-schema.ts";
import { streamFlaws } from "../../conformance/testkit/stream-checker.ts";
import type { McpServerSettings } from "../../executor/mcp/configured-server.ts";
import { McpExecutor } from "../../executor/mcp/mcp-executor.ts";
import { type NotebookOptions, startNotebook } from "../../executor/mcp/testkit/notebook-server.ts";
import type { StreamEvent } from "../../protocol/events.ts";
import type { ResponseObject } from "../../protocol/response.ts";
import { type ServiceSetup, startService, toFrames } from "./service.ts";

interface Setup extends Pick<NotebookOptions, "gate" | "intercept">, Partial<ServiceSetup> {
  readonly script: ScriptedStep | readonly ScriptedStep[];
  readonly servers?: (url: string) => Record<string, McpServerSettings>;
}

export async function started({ script, servers = () => ({}), gate, intercept, ...rest }: Setup) {
  const notebook = await startNotebook({ gate, intercept });
  const warnings: string[] = [];
  const mcp = await McpExecutor.create({
    servers: servers(notebook.url),
    allowPrivate: ["127.0.0.1"],
    onWarning: (message) => warnings.push(message),
  });
  onTestFinished(() => mcp.close());
  const model = scriptedModel(script, { name: "test" });
  const service = await startService({ model, mcp, warnings, ...rest });
  const server = { type: "mcp", server_label: "notes", server_url: notebook.url };
  return { service, model, mcp, notebook, warnings, server, free: { ...server, require_approval: "never" } };
}

export const call = (name: string, n = 1) => ({ name, input: { n } });

/** The response of a stream, which follows the contract and the public schema. */
export function checked({ events, response }: { events: readonly StreamEvent[]; response: ResponseObject }) {
  expect(streamFlaws(toFrames(events))).toEqual([]);
  expect(events.flatMap((event) => flawsOf("ResponseStreamEvent", event))).toEqual([]);
  return response;
}
