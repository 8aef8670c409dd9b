// MCP servers: those of the config, and what requests may name.

import { z } from "zod";
import {
  byName,
  choice,
  group,
  httpUrl,
  listOf,
  milliseconds,
  privateHosts,
  secretTexts,
  text,
  wholeNumber,
} from "./fields.ts";

const toolNames = listOf(text("the name of a tool on that server"), "a list of names");
const limit = (value: number) => wholeNumber(1).default(value);

const serverSchema = group({
  command: text("a program to start")
    .optional()
    .describe("The program of a server that is started here (stdio)."),
  args: listOf(z.string("text"), "a list of texts").optional().describe("Arguments of the program."),
  env: secretTexts(
    "names of variables with their values",
    "Variables for the program, besides `PATH`, `HOME` and the like.",
  ),
  cwd: text("the path of a folder").optional().describe("The working directory of the program."),
  url: httpUrl("http://localhost:3001/mcp")
    .optional()
    .describe("URL of a streamable-HTTP server, instead of `command`."),
  headers: secretTexts(
    "header names with their values",
    "Headers for each request to the URL, such as `authorization`.",
  ),
  allowedTools: toolNames
    .optional()
    .describe("The tools that are offered, by their names on the server. All if not set."),
  requireApproval: z
    .union([toolNames, choice(["always", "never"]).meta({ expected: "always, never, or a list of names" })])
    .default("never")
    .describe(
      "Which calls the client has to approve: `always` all, `never` none, or those of the listed tools.",
    ),
  offer: choice(["always", "named"])
    .default("always")
    .describe("Whether its tools are offered to every request, or only to those that name its label."),
  timeoutMs: milliseconds().default(60_000).describe("The time limit of a call."),
  maxTools: limit(512).describe("How many tools of its list are used; the rest is dropped."),
  maxListBytes: limit(4_000_000).describe(
    "How many bytes of its list of tools are used; the rest is dropped.",
  ),
  maxDescriptionChars: limit(10_000).describe(
    "The longest description of a tool; longer ones are truncated.",
  ),
  maxResultBytes: limit(4_000_000).describe("The largest result; a larger one fails the call."),
  maxMessageBytes: limit(10_000_000).describe("The largest message; a larger one closes the connection."),
}).superRefine(({ command, url, args, env, cwd, headers }, context) => {
  const fail = (key: string, message: string) => context.addIssue({ code: "custom", path: [key], message });
  if (command === undefined && url === undefined) fail("command", "a program to start, or a url instead");
  if (command !== undefined && url !== undefined) fail("url", "only one of command and url");
  const misplaced = command === undefined ? { args, env, cwd } : { headers };
  for (const [key, value] of Object.entries(misplaced))
    if (value !== undefined)
      fail(key, `nothing, as it goes with ${command === undefined ? "command" : "url"}`);
});

export const mcpSchema = group({
  servers: byName(serverSchema, "labels with a group for each")
    .default({})
    .describe("MCP servers by their labels. If a server is down, only its tools are unavailable."),
  allowPrivate: privateHosts().describe(
    "Private hosts that requests may name in `server_url` all the same; `*` for all.",
  ),
}).superRefine(({ servers }, context) => {
  for (const label of Object.keys(servers))
    if (label === "local" || label.trim() === "")
      context.addIssue({
        code: "custom",
        path: ["servers", label],
        message: 'a label that is not empty and not "local", which stands for the tools of this process',
      });
});
