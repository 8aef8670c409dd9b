// MCP servers: those of this server, and what requests may name.

import { z } from "zod";
import { byName, choice, group, httpUrl, listOf, milliseconds, text, wholeNumber } from "./fields.ts";

const toolName = text("the name of a tool on that server");

const serverSchema = group({
  command: text("a program to start").optional().meta({
    description: "The program of a server that is started here and spoken to over its standard input.",
  }),
  args: listOf(z.string("text"), "a list of texts")
    .optional()
    .meta({ description: "What the program is started with." }),
  env: byName(z.string("text"), "names of variables with their values")
    .optional()
    .meta({ description: "Variables for the program, besides `PATH`, `HOME` and the like.", isSecret: true }),
  cwd: text("the path of a folder").optional().meta({ description: "The folder in which the program runs." }),
  url: httpUrl("http://localhost:3001/mcp")
    .optional()
    .meta({ description: "Where a server is that speaks streamable HTTP; instead of `command`." }),
  headers: byName(z.string("text"), "header names with their values")
    .optional()
    .meta({ description: "Headers for each request to the URL, such as `authorization`.", isSecret: true }),
  allowedTools: listOf(toolName, "a list of names")
    .optional()
    .meta({ description: "The tools that are offered, by their names on the server. All if not set." }),
  requireApproval: z
    .union([
      listOf(toolName, "a list of names"),
      choice(["always", "never"]).meta({ expected: "always, never, or a list of names" }),
    ])
    .default("never")
    .meta({
      description:
        "Whether the client has to allow each call: `always`, `never`, or only for the tools of a list.",
    }),
  offer: choice(["always", "named"]).default("always").meta({
    description: "Whether every request has its tools, or only those that name it by its label.",
  }),
  timeoutMs: milliseconds().default(60_000).meta({ description: "The limit of one call." }),
  maxTools: wholeNumber(1)
    .default(512)
    .meta({ description: "The most tools of its list that are taken; those after are left out." }),
  maxListBytes: wholeNumber(1)
    .default(4_000_000)
    .meta({ description: "The most bytes of its list of tools; those after are left out." }),
  maxDescriptionChars: wholeNumber(1)
    .default(10_000)
    .meta({ description: "The longest description of a tool; a longer one is cut." }),
  maxResultBytes: wholeNumber(1)
    .default(4_000_000)
    .meta({ description: "The largest result of a call; a larger one is an error of the call." }),
  maxMessageBytes: wholeNumber(1)
    .default(10_000_000)
    .meta({ description: "The largest message; a larger one ends the connection." }),
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
    .meta({ description: "MCP servers by their labels. One that is down is only missing its tools." }),
  allowPrivate: listOf(text("a host of a URL, with or without a port, or *", isUrlHost), "a list of hosts")
    .default([])
    .meta({
      description:
        "Hosts that requests may name in `server_url` although their addresses are private; `*` for all.",
    }),
}).superRefine(({ servers }, context) => {
  for (const label of Object.keys(servers))
    if (label === "local" || label.trim() === "")
      context.addIssue({
        code: "custom",
        path: ["servers", label],
        message: 'a label that is not empty and not "local", which stands for the tools of this process',
      });
});

/** Whether a text can be the host of a URL, with or without a port, or `*`. */
export function isUrlHost(value: string): boolean {
  return value === "*" || URL.parse(`http://${value}/`)?.pathname === "/";
}
