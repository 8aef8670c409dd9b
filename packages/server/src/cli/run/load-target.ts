// What a file holds: the default export of a module, or a text that is a prompt.

import { stat } from "node:fs/promises";
import { extname, resolve } from "node:path";
import type { Agent } from "rondo";
import { loadModule } from "../load-module.ts";
import { isPrompt, type Prompt, readPromptFile, toPrompt } from "./prompt.ts";
import { isAgent } from "./run-agent.ts";
import type { RunFunction } from "./run-function.ts";
import { UsageError } from "./usage-error.ts";

export type Target =
  | { readonly kind: "agent"; readonly agent: Agent }
  | { readonly kind: "prompt"; readonly prompt: Prompt }
  | { readonly kind: "function"; readonly run: RunFunction };

const modules: readonly string[] = [".ts", ".mts", ".js", ".mjs", ".cjs"];
const texts: readonly string[] = [".md", ".txt"];

/** Reads a file. Throws in words. */
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
  const target = await asTarget(exported, path, file);
  if (target) return target;
  const got = exported === undefined ? "nothing" : `a value of type ${typeof exported}`;
  throw new UsageError(
    `${file} has to export an agent, a function or a prompt as its default, got ${got}. Write \`export default agent;\`.`,
  );
}

/** What a value is to be run as; undefined if it is nothing that can be run. */
async function asTarget(value: unknown, path: string, file: string): Promise<Target | undefined> {
  if (typeof value === "function") return { kind: "function", run: value as RunFunction };
  if (isAgent(value)) return { kind: "agent", agent: value };
  if (isPrompt(value)) return { kind: "prompt", prompt: await toPrompt(value, path, file) };
  return undefined;
}
