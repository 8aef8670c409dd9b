import { defineConfig } from "vitest/config";

export default defineConfig({
  ssr: { resolve: { conditions: ["rondo-source", "module", "node"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    // Said aloud, because the default registry belongs to the process: test files must not share one.
    isolate: true,
    // Starts nothing by itself: PostgreSQL only when a test asks for it.
    globalSetup: ["packages/server/src/store/postgres/testkit/vitest-postgres.ts"],
    // Only against what hangs: on a busy machine everything takes longer.
    testTimeout: 30_000,
    // Much of the time is waiting, for processes and sockets; the default leaves one of two cores idle.
    maxWorkers: "100%",
    typecheck: { enabled: true, include: ["packages/*/src/**/*.test-d.ts"], tsconfig: "tsconfig.dev.json" },
  },
});
