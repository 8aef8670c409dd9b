import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  ssr: { resolve: { conditions: ["rondo-source", "module", "node"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    // `npm run test:long` runs these.
    exclude: ["**/node_modules/**", "**/*.long.test.ts"],
    // A process for each file costs more than most files' tests. They share processes, but no modules: test files must
    // not share a default registry.
    isolate: false,
    setupFiles: ["test/support/fresh-modules.ts"],
    // For the workers and the many processes that tests start: what one has compiled, the others need not.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/compile", import.meta.url)) },
    // Starts nothing by itself: PostgreSQL only when a test asks for it.
    globalSetup: ["packages/server/src/store/postgres/testkit/vitest-postgres.ts"],
    // Only against what hangs: on a busy machine everything takes longer.
    testTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
    // Much of the time is waiting, for processes and sockets; the default leaves one of two cores idle.
    maxWorkers: "100%",
    typecheck: {
      enabled: true,
      checker: "node_modules/@typescript/native/bin/tsc",
      include: ["packages/*/src/**/*.test-d.ts"],
      tsconfig: "tsconfig.dev.json",
    },
  },
});
