// What is installed here: Node, the packages, the config and the store.

import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { relative } from "node:path";
import { ConfigError } from "../../config/config-error.ts";
import { findConfigFile } from "../../config/config-file.ts";
import { loadConfig } from "../../config/load.ts";
import type { Environment, Flags } from "../../config/overrides.ts";
import type { ServerConfig } from "../../config/schema.ts";
import { inspectStore } from "../../store/inspect-store.ts";
import type { InstallCheck } from "./report.ts";

export interface World {
  readonly cwd: string;
  readonly env: Environment;
  readonly flags: Flags;
  /** The config file, as typed. */
  readonly file: string | undefined;
}

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

export function checkNode(found = process.versions.node): InstallCheck {
  const oldest = Number(/\d+/.exec(manifestOf("@rondo/server").engines.node)?.[0]);
  const isNewEnough = Number.parseInt(found, 10) >= oldest;
  return {
    name: "node",
    status: isNewEnough ? "ok" : "failed",
    code: isNewEnough ? "ok" : "old_node",
    message: `Node ${found} (needed: ${oldest} or newer)`,
    ...(isNewEnough ? {} : { advice: "Install a newer one from https://nodejs.org." }),
  };
}

export function checkPackages(): InstallCheck {
  const versions = ["@rondo/server", "rondo"].map((name) => `${name} ${manifestOf(name).version}`);
  return { name: "packages", status: "ok", code: "ok", message: versions.join(", ") };
}

/** Also gives the config, if it can be used. A flag that is wrong is thrown, as by every other command. */
export async function checkConfig({
  cwd,
  env,
  flags,
  file,
}: World): Promise<{ check: InstallCheck; config: ServerConfig | undefined }> {
  try {
    const path = await findConfigFile(cwd, file);
    const config = await loadConfig({ cwd, env, flags, file });
    const message =
      path === undefined
        ? "no config file here (rondo.config.ts or rondo.yaml): the defaults hold"
        : `config ${relative(cwd, path) || path} is valid`;
    const code = path === undefined ? "no_config" : "ok";
    return { check: { name: "config", status: "ok", code, message }, config };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const isTyped = ({ source }: { source: string }) => source.startsWith("the flag ");
    if (error.problems.some(isTyped)) throw new ConfigError(error.problems.filter(isTyped));
    const check: InstallCheck = {
      name: "config",
      status: "failed",
      code: "invalid_config",
      message: error.message,
      advice: "Correct what is named; docs/server-config.md has every key.",
    };
    return { check, config: undefined };
  }
}

export function checkStore(config: ServerConfig | undefined, cwd: string): InstallCheck {
  const name = "store";
  if (config === undefined)
    return { name, status: "skipped", code: "no_config", message: "the store is not known without a config" };
  const { store } = config;
  if (typeof store !== "string")
    return { name, status: "skipped", code: "custom", message: "the config brings a store of its own" };
  if (store === "none") return { name, status: "ok", code: "none", message: "store none: nothing is stored" };
  const found = inspectStore(store, cwd);
  const said = (message: string): InstallCheck => ({
    name,
    status: "ok",
    code: found.state,
    message: `store ${store}: ${message}`,
  });
  switch (found.state) {
    case "memory":
      return said("responses are forgotten when the server stops");
    case "missing":
      return said("not there yet; `rondo serve` makes it");
    case "in_use":
      return said("in use by a server that runs, and left alone");
    case "ready":
      return said("can be read and written");
    default:
      return {
        ...said(`cannot be used. ${found.message}`),
        status: "failed",
        advice: "Correct that, or name another store with `store` in the config or RONDO_STORE.",
      };
  }
}

function manifestOf(name: string): Manifest {
  // This package need not be installed as one: it may be a folder of a repository.
  const file =
    name === "@rondo/server" ? findPackageJSON(import.meta.url) : findPackageJSON(name, import.meta.url);
  if (file === undefined) throw new Error(`The package ${name} is not installed. Install it again.`);
  return JSON.parse(readFileSync(file, "utf8")) as Manifest;
}
