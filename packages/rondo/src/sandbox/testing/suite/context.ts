// What the tests of a tier share: the tier, and short cuts to containers.

import assert from "node:assert/strict";
import type { Language } from "../../interpreter/interpreter.ts";
import { type FinishedExecution, readExecution } from "../../read-execution.ts";
import type { Container, ExecRequest, OpenOptions, Outcome, Sandbox } from "../../sandbox.ts";
import type { ProbeName } from "./probe-program.ts";

export type { ProbeName } from "./probe-program.ts";

/** The functions of a test runner. */
export interface TestRunner {
  readonly describe: (name: string, define: () => void) => void;
  readonly test: (name: string, run: () => Promise<void>) => void;
  readonly afterAll: (run: () => Promise<void>) => void;
}

export interface SandboxSuiteOptions {
  readonly runner: TestRunner;
  /** Makes the tier. Called again for a test of a restart: both see the same containers. */
  readonly open: () => Sandbox | Promise<Sandbox>;
  /** Removes what a closed tier leaves behind. */
  readonly dispose?: () => void | Promise<void>;
  /** The languages of its containers. Default: Python and JavaScript. */
  readonly languages?: readonly Language[];
  /** Probes that reach something on this tier which is not the host's, with the reason. Default: none. */
  readonly exceptions?: Readonly<Partial<Record<ProbeName, string>>>;
  /** Tests of limits to leave out, with the reason: `processes`, `disk`. Default: none. */
  readonly missingLimits?: Readonly<Record<string, string>>;
}

export interface SuiteContext {
  readonly options: SandboxSuiteOptions;
  readonly test: TestRunner["test"];
  readonly describe: TestRunner["describe"];
  readonly sandbox: () => Promise<Sandbox>;
  /** A temporary container, closed when the function has returned. */
  readonly withContainer: <T>(options: OpenOptions, use: (container: Container) => Promise<T>) => Promise<T>;
  readonly hasPython: boolean;
}

/** Makes the tier with the first test, and closes it after the last. */
export function useSandbox(options: SandboxSuiteOptions): SuiteContext {
  let opened: Promise<Sandbox> | undefined;
  const sandbox = () => {
    opened ??= Promise.resolve(options.open());
    return opened;
  };
  options.runner.afterAll(async () => {
    await (await opened)?.close();
    await options.dispose?.();
  });
  return {
    options,
    test: options.runner.test,
    describe: options.runner.describe,
    sandbox,
    hasPython: (options.languages ?? ["python"]).includes("python"),
    withContainer: async (open, use) => {
      const container = await (await sandbox()).open({ isTemporary: true, ...open });
      try {
        return await use(container);
      } finally {
        await container.close({ removesFiles: true });
      }
    },
  };
}

/** Runs a line of the shell to its end. */
export async function shell(
  container: Container,
  line: string,
  request: Partial<ExecRequest> = {},
): Promise<FinishedExecution> {
  return readExecution(await container.exec({ command: ["sh", "-c", line], ...request }));
}

export function assertOutcome(outcome: Outcome, type: Outcome["type"]): void {
  assert.equal(outcome.type, type, `expected the outcome ${type}, got ${JSON.stringify(outcome)}`);
}

/** The text of a file in a container. */
export async function textOf(container: Container, path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of container.read(path)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
