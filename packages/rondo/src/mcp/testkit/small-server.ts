// An MCP server for tests, over stdio. Speaks both eras, or only the new one with --modern. With --noise it
// also prints what is no message. With --log FILE it notes there what happened to it.
import { appendFileSync } from "node:fs";
import { type CallToolResult, Server, type ServerContext, type Tool } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const flags = process.argv.slice(2);
const logFile = flags.includes("--log") ? flags[flags.indexOf("--log") + 1] : undefined;
const log = (line: string) => logFile !== undefined && appendFileSync(logFile, `${line}\n`);
log("started");

const names = ["wait", "pid", "die", "grow", "huge", "fail", "odd.name/with spaces", "odd_name/with_spaces"];
const tools: Tool[] = [...names, "x".repeat(80)].map((name) => ({
  name,
  description: `The tool ${name.slice(0, 20)}.`,
  inputSchema: { type: "object", properties: { size: { type: "integer" } } },
  annotations: { readOnlyHint: name === "pid" },
}));
tools.push({
  name: "broken",
  inputSchema: { type: "object", properties: { a: { $ref: "#/nowhere" } } },
});

const text = (words: string): CallToolResult => ({ content: [{ type: "text", text: words }] });

serveStdio(
  () => {
    const server = new Server(
      { name: "small", version: "1.0.0" },
      { capabilities: { tools: { listChanged: true } } },
    );
    server.setRequestHandler("tools/list", () => {
      log("listed");
      return { tools };
    });
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      log(`called ${params.name}`);
      const { traceparent } = context.mcpReq["_meta"] ?? {};
      if (typeof traceparent === "string") log(`traceparent ${traceparent}`);
      switch (params.name) {
        case "wait":
          return waitForAbort(context);
        case "die":
          return process.exit(1);
        case "grow":
          tools.push({ name: "grown", inputSchema: { type: "object" } });
          await server.sendToolListChanged();
          return text("grown");
        case "huge":
          return text("x".repeat(Number(params.arguments?.["size"])));
        case "fail":
          return { ...text("That went wrong."), isError: true };
        case "pid":
          return text(String(process.pid));
        default:
          return text(`ran ${params.name}`);
      }
    });
    return server;
  },
  { legacy: flags.includes("--modern") ? "reject" : "serve" },
);

async function waitForAbort({ mcpReq }: ServerContext): Promise<CallToolResult> {
  log("waiting");
  await new Promise((resolve) => mcpReq.signal.addEventListener("abort", resolve));
  log("aborted");
  return text("aborted");
}

if (flags.includes("--noise")) {
  process.stdout.write("Welcome to the small server!\n{ half a message\n");
  process.stderr.write("warming up\n");
}
