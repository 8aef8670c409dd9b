// The tests that take long: CI and `npm run soak` run them, `npm test` does not.

import { defineConfig } from "vitest/config";
import config from "./vitest.config.ts";

export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ["packages/*/src/**/*.long.test.ts", "test/**/*.long.test.ts"],
    exclude: ["**/node_modules/**"],
    typecheck: { enabled: false },
  },
});
