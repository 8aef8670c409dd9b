// `rondo/sandbox-suite`: the tests that every tier of sandbox passes.

import { type SandboxSuiteOptions, useSandbox } from "./suite/context.ts";
import { execTests } from "./suite/exec-tests.ts";
import { fileTests } from "./suite/file-tests.ts";
import { interpreterTests } from "./suite/interpreter-tests.ts";
import { lifeTests } from "./suite/life-tests.ts";
import { limitTests } from "./suite/limit-tests.ts";
import { probeTests } from "./suite/probe-tests.ts";

export type { ProbeName, SandboxSuiteOptions, TestRunner } from "./suite/context.ts";

/**
 * Defines the tests of a tier, with the functions of a test runner such as Vitest or `node:test`. Among them are
 * probes: programs that try to reach what they must not. Each also runs without the sandbox, where it must succeed, so
 * that a probe that cannot fail is noticed.
 */
export function describeSandbox(name: string, options: SandboxSuiteOptions): void {
  options.runner.describe(`the ${name} sandbox`, () => {
    const context = useSandbox(options);
    lifeTests(context);
    execTests(context);
    fileTests(context);
    limitTests(context);
    interpreterTests(context);
    probeTests(context);
  });
}
