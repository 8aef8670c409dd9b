// Brings the proxy to programs of a container: they connect to a port of its loopback, and a forwarder in front of the
// command passes that on to the proxy's file socket. Few programs can talk to a proxy on a file socket themselves.

/** The port on the container's loopback. Each exec of bwrap and runsc has a loopback of its own. */
const proxyPort = 3128;

/** Variables that programs find the proxy by. */
export const proxyEnvironment: Readonly<Record<string, string>> = Object.freeze(
  Object.fromEntries(
    ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
      .map((name) => [name, `http://127.0.0.1:${proxyPort}`])
      // fetch() of Node looks at the variables only when asked.
      .concat([["NODE_USE_ENV_PROXY", "1"]]),
  ),
);

/** Written without options of newer versions: it runs on the Node of the container. */
const program = `
const { connect, createServer } = require("node:net");
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const [socketPath, command, ...args] = process.argv.slice(1);
const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ path: socketPath, allowHalfOpen: true });
  const drop = () => { near.destroy(); far.destroy(); };
  near.on("error", drop).pipe(far).on("error", drop).pipe(near);
});
server.on("error", (error) => { console.error("The network proxy cannot start: " + error.message); process.exit(126); });
server.listen(${proxyPort}, "127.0.0.1", () => {
  const child = spawn(command, args, { stdio: "inherit" });
  child.on("error", (error) => { console.error(error.message); process.exit(error.code === "ENOENT" ? 127 : 126); });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.exit(128 + constants.signals[signal]);
  });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
`;

/**
 * The command with a forwarder in front.
 * @param node The path of Node in the container.
 * @param socketPath The path of the proxy's file socket in the container.
 */
export function throughForwarder(
  command: readonly [string, ...string[]],
  { node, socketPath }: { readonly node: string; readonly socketPath: string },
): readonly [string, ...string[]] {
  return [node, "--max-old-space-size=32", "--eval", program, "--", socketPath, ...command];
}
