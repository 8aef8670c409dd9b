// How the driver of each language is started.

import type { Language } from "./interpreter.ts";
import { javascriptDriver } from "./javascript-driver.ts";
import { pythonDriver } from "./python-driver.ts";

interface Driver {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

export const drivers: Readonly<Record<Language, Driver>> = {
  python: {
    // Isolated: no site of the user, no variables. The driver adds the work folder itself.
    command: ["/usr/bin/python3", "-I", "-c", pythonDriver],
    env: { MPLBACKEND: "agg" },
  },
  javascript: {
    // The tiers put Node first in the PATH.
    command: ["node", "-e", javascriptDriver],
    env: {},
  },
};
