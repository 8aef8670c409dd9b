// `rondo init`: writes a small project, with the model that it finds on this machine.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { Command } from "commander";
import { chatModels } from "../../config/chat-models.ts";
import { discoverModelServers, serverNames } from "../../config/discover.ts";
import type { Environment } from "../../config/overrides.ts";
import { packageVersion } from "../../config/package-version.ts";
import { modelApiKey, modelUrl } from "../../config/settings.ts";
import { type CliIo, UsageError } from "../cli-io.ts";
import type { Discover } from "../found-models.ts";
import { type ChosenModel, projectFiles } from "./project-files.ts";

const examples = `
Examples:
  rondo init my-agent      In a new folder.
  rondo init               In this one.

The project has a tool, an agent, a test and a server config. Nothing is overwritten.`;

/** The command. Tests pass their own `discover`. */
export function initCommand(io: CliIo, discover: Discover = discoverModelServers): Command {
  return new Command("init")
    .description("Write a small project: a tool, an agent, a test and a server config.")
    .argument("[folder]", "Where to. Default: this folder.", ".")
    .addHelpText("after", examples)
    .action((folder: string) => init(io, folder, discover));
}

async function init(io: CliIo, folder: string, discover: Discover): Promise<void> {
  const path = resolve(io.cwd, folder);
  const hasManifest = checkManifest(path);
  const model = await chooseModel(io.env, discover);
  const { "package.json": manifest = "", ...sources } = projectFiles(model, packageVersion());
  const files = hasManifest ? sources : { ...sources, "package.json": manifest };
  const taken = Object.keys(files).filter((name) => existsSync(join(path, name)));
  if (taken.length > 0)
    throw new UsageError(
      `${taken.join(", ")} ${taken.length === 1 ? "is" : "are"} in ${path} already. Nothing was written; name another folder: \`rondo init my-agent\`.`,
    );
  mkdirSync(path, { recursive: true });
  // Exclusive, in case that a file appeared in between.
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text, { flag: "wx" });
  io.write(describe(path, io.cwd, Object.keys(files), model));
}

/** Whether there is a package.json, which is left alone. Throws if it does not fit. */
function checkManifest(path: string): boolean {
  const file = join(path, "package.json");
  if (!existsSync(file)) return false;
  if (/"type"\s*:\s*"module"/.test(readFileSync(file, "utf8"))) return true;
  throw new UsageError(
    `${file} does not have "type": "module", so Node would read the project's files as CommonJS. Run \`npm pkg set type=module\` there first, or name another folder: \`rondo init my-agent\`.`,
  );
}

/** The first model on this machine that can chat. */
async function chooseModel(env: Environment, discover: Discover): Promise<ChosenModel | undefined> {
  for (const { kind, url, models } of await discover({ env })) {
    const [name] = chatModels(models);
    const needsKey = url === env[modelUrl.env]?.trim() && Boolean(env[modelApiKey.env]?.trim());
    if (name !== undefined) return { kind, url, name, needsKey };
  }
  return undefined;
}

function describe(
  path: string,
  cwd: string,
  names: readonly string[],
  model: ChosenModel | undefined,
): string {
  const shown = relative(cwd, path);
  const steps = [
    ...(shown === "" ? [] : [`cd ${shown}`]),
    ...(isInstalled(path) ? [] : ["npm install"]),
    "node --test",
    'npx rondo run agent.ts --input "What is 25 + 17?"',
    "npx rondo serve",
  ];
  const choice = model
    ? `${model.name} of ${serverNames[model.kind].replace(/^A /, "the ")} at ${model.url}`
    : "the demo model, because no model server was found on this machine";
  return `Wrote ${names.join(", ")} to ${path}.
The model is ${choice}.

Next:

${steps.map((step) => `  ${step}`).join("\n")}
`;
}

function isInstalled(path: string): boolean {
  try {
    createRequire(join(path, "agent.ts")).resolve("rondo");
    return true;
  } catch {
    return false;
  }
}
