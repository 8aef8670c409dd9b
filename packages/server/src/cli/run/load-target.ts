// Loads the file to run: the default export of a module, or a text that is a prompt.

import { stat } from "node:fs/promises";
import { extname, resolve } from "node:path";
import type { Agent } from "rondo";
import { UsageError } from "../cli-io.ts";
import { loadModule } from "../load-module.ts";
import { isPrompt, type Prompt, readPromptFile, toPrompt } from "./prompt.ts";
import { isAgent } from "./run-agent.ts";

/** A function that a file exports: receives the input, and a signal that Ctrl-C aborts. */
type RunFunction = (input: string | undefined, context: { signal: AbortSignal }) => unknown;

export type Target =
  | { readonly kind: "agent"; readonly agent: Agent }
  | { readonly kind: "prompt"; readonly prompt: Prompt }
  | { readonly kind: "function"; readonly run: RunFunction };

const modules: readonly string[] = [".ts", ".mts", ".js", ".mjs", ".cjs"];
const texts: readonly string[] = [".md", ".txt"];

/** Throws a `UsageError` if the file cannot be run. */
export async function loadTarget(file: string, cwd: string): Promise<Target> {
  const path = resolve(cwd, file);
  const kind = extname(file).toLowerCase();
  if (!modules.includes(kind) && !texts.includes(kind))
    throw new UsageError(
      `Expected a program (${modules.join(", ")}) or a prompt (${texts.join(", ")}), got ${file}.`,
    );
  if (!(await stat(path).catch(() => undefined))?.isFile())
    throw new UsageError(`There is no file ${file} in ${cwd}.`);
  if (texts.includes(kind)) return { kind: "prompt", prompt: await readPromptFile(path, file) };
  const { default: exported } = await loadModule(path, file);
  if (typeof exported === "function") return { kind: "function", run: exported as RunFunction };
  if (isAgent(exported)) return { kind: "agent", agent: exported };
  if (isPrompt(exported)) return { kind: "prompt", prompt: await toPrompt(exported, path, file) };
  const got = exported === undefined ? "nothing" : `a value of type ${typeof exported}`;
  throw new UsageError(
    `${file} has to export an agent, a function or a prompt as its default, got ${got}. Write \`export default agent;\`.`,
  );
}
