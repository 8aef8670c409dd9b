import { defineConfig } from "vitest/config";

export default defineConfig({
  ssr: { resolve: { conditions: ["rondo-source", "module", "node"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    typecheck: { enabled: true, include: ["packages/*/src/**/*.test-d.ts"], tsconfig: "tsconfig.dev.json" },
  },
});
