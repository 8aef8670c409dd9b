// The exec endpoint of the stand-in: WebSocket channels by the subprotocols v4 and v5.

import type { ChildProcess } from "node:child_process";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

const protocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const closeChannel = 255;

export interface ExecUpgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Starts the process. */
  readonly start: () => ChildProcess;
  /** The newest version that is spoken. */
  readonly newest: "v4" | "v5";
}

export function execOverWebSocket({ request, socket, head, start, newest }: ExecUpgrade): void {
  const spoken = protocols.slice(newest === "v5" ? 0 : 1);
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: 4 * 1024 * 1024,
    handleProtocols: (offered) => spoken.find((protocol) => offered.has(protocol)) ?? false,
  });
  server.handleUpgrade(request, socket, head, (ws) => {
    if (!spoken.includes(ws.protocol)) return ws.close(1002, "no subprotocol in common");
    return serve(ws, start());
  });
}

function serve(ws: WebSocket, child: ChildProcess): void {
  const { stdin, stdout, stderr } = child;
  stdin?.on("error", () => undefined);
  for (const [channel, stream] of [
    [1, stdout],
    [2, stderr],
  ] as const) {
    stream?.on("data", (bytes: Buffer) => {
      stream.pause();
      ws.send(Buffer.concat([Buffer.from([channel]), bytes]), () => stream.resume());
    });
  }
  ws.on("message", (data: Buffer) => {
    if (data[0] === 0) {
      if (stdin?.write(data.subarray(1)) === false) {
        ws.pause();
        stdin.once("drain", () => ws.resume());
      }
    } else if (data[0] === closeChannel && ws.protocol === protocols[0] && data[1] === 0) stdin?.end();
  });
  // As in a cluster: a lost connection closes the standard input, and the process goes on.
  ws.on("close", () => {
    stdin?.end();
    stdout?.resume();
    stderr?.resume();
  });
  ws.on("error", () => undefined);
  child.on("close", (code) => {
    ws.send(Buffer.concat([Buffer.from([3]), Buffer.from(JSON.stringify(statusOf(code)))]));
    ws.close(1000);
  });
}

function statusOf(code: number | null): object {
  if (code === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: exit status ${code ?? 137}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(code ?? 137) }] },
  };
}
