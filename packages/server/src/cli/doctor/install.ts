// Checks the installation: Node, the packages, the config and the store.

import { relative } from "node:path";
import { storeAdvice } from "../../check/advice.ts";
import { type Finding, failed, ok } from "../../check/finding.ts";
import { ConfigError } from "../../config/config-error.ts";
import { findConfigFile } from "../../config/config-file.ts";
import { type LoadOptions, loadConfig } from "../../config/load.ts";
import { readManifest } from "../../config/package-version.ts";
import type { ServerConfig } from "../../config/schema.ts";
import { checkStoreFile } from "../../store/check-store.ts";
import { inspectStore } from "../../store/inspect-store.ts";
import { isPostgresUrl, storeLabel } from "../../store/store-label.ts";
import type { InstallCheck } from "./report.ts";

export function checkNode(found = process.versions.node): InstallCheck {
  const oldest = Number(/\d+/.exec(readManifest().engines.node)?.[0]);
  const message = `Node ${found} (needed: ${oldest} or newer)`;
  const isNewEnough = Number.parseInt(found, 10) >= oldest;
  const finding = isNewEnough ? ok(message) : failed("old_node", message);
  return { name: "node", ...finding };
}

export function checkPackages(): InstallCheck {
  const versions = (["@rondo/server", "rondo"] as const).map(
    (name) => `${name} ${readManifest(name).version}`,
  );
  return { name: "packages", ...ok(versions.join(", ")) };
}

/** Also returns the config, if it is valid. A wrong flag is thrown, as by every other command. */
export async function checkConfig(
  options: LoadOptions & { cwd: string },
): Promise<{ check: InstallCheck; config: ServerConfig | undefined }> {
  const { cwd, file } = options;
  const name = "config";
  try {
    const path = await findConfigFile(cwd, file);
    const config = await loadConfig(options);
    const finding =
      path === undefined
        ? ok("no config file here (rondo.config.ts or rondo.yaml): the defaults apply", "no_config")
        : ok(`config ${relative(cwd, path) || path} is valid`);
    return { check: { name, ...finding }, config };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const isTyped = ({ source }: { source: string }) => source.startsWith("the flag ");
    if (error.problems.some(isTyped)) throw new ConfigError(error.problems.filter(isTyped));
    return { check: { name, ...failed("invalid_config", error.message) }, config: undefined };
  }
}

export async function checkStore(config: ServerConfig | undefined, cwd: string): Promise<InstallCheck> {
  if (config && isPostgresUrl(config.store)) {
    const checks = await checkPostgres(config.store, config.postgres);
    const bad = checks.find(({ status }) => status === "failed");
    const label = `store ${storeLabel(config.store)}`;
    return bad
      ? { ...bad, name: "store", message: `${label}: ${bad.message}` }
      : { name: "store", ...ok(`${label}: reachable and usable (rondo doctor --store has more)`) };
  }
  return { name: "store", ...storeFinding(config?.store, cwd) };
}

function storeFinding(store: ServerConfig["store"] | undefined, cwd: string): Finding {
  if (store === undefined)
    return { status: "skipped", code: "no_config", message: "the store is unknown without a valid config" };
  const name = typeof store === "string" ? store : "of the config";
  const found = inspectStore(store, cwd);
  if (found.state === "unusable")
    return failed(found.state, `store ${name}: cannot be used. ${found.message}`);
  return ok(`store ${name}: ${storeStates[found.state]}`, found.state);
}

const storeStates = {
  custom: "made in code, and not checked",
  none: "nothing is stored; only requests with store: false are served",
  memory: "responses are lost when the server stops",
  missing: "does not exist yet; `rondo serve` creates it",
  in_use: "in use by a running server, and left alone",
  ready: "readable and writable",
};

/** What is checked of a PostgreSQL store. */
async function checkPostgres(url: string, options: ServerConfig["postgres"]): Promise<InstallCheck[]> {
  // Loaded only here: whoever uses SQLite pays nothing for it.
  const { inspectPostgres } = await import("../../store/postgres/inspect.ts");
  return (await inspectPostgres(url, options)).map(({ check, ...finding }) => ({ name: check, ...finding }));
}

/** `rondo doctor --store`: every page of the store's file, or what can be seen of a database. */
export async function checkStoreThoroughly(
  url: string,
  cwd: string,
  postgres: ServerConfig["postgres"],
): Promise<InstallCheck[]> {
  if (isPostgresUrl(url)) return checkPostgres(url, postgres);
  if (url === "none") return [{ name: "file", ...ok("nothing is kept: there is no file to check", "none") }];
  return checkStoreFile(url, cwd).map(({ check, isGood, code, message }) => ({
    name: check,
    ...(isGood ? ok(message, code) : failed(code, message, storeAdvice[check])),
  }));
}
