// `npm run build` builds the console into the server's package. For work on it: `npx vite packages/console`, beside a
// server on port 4500.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const server = process.env["RONDO_SERVER"] ?? "http://127.0.0.1:4500";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Relative, so that it also works behind a proxy that adds a prefix to the path.
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: fileURLToPath(new URL("../server/console", import.meta.url)),
    assetsDir: "console",
    emptyOutDir: true,
    target: "es2023",
    modulePreload: { polyfill: false },
    // Data URLs would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: { proxy: { "/v1": server, "/openapi.json": server, "/healthz": server } },
});
