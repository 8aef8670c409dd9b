// Gives `rondo.config.ts` its types.

import type { ConfigInput } from "./schema.ts";

/**
 * Returns what it is given. For the default export of `rondo.config.ts`, where it lets the editor complete and
 * check the settings.
 */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
