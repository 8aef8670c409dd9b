// Node's HTTP server. An `import` of `node:http` reads all that it exports, and with that loads Node's `fetch` and
// WebSocket client: 7 MB and some 50 ms of CPU for what this server does not use. (Types cost nothing.)

export const { createServer, ServerResponse } = process.getBuiltinModule("node:http");
