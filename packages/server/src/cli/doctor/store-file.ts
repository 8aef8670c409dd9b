// `rondo doctor --store`: a thorough look at the file of the store, and at nothing else.

import { checkStoreFile } from "../../store/check-store.ts";
import type { CliIo } from "../cli-io.ts";
import { checkConfig } from "./install.ts";
import type { Printer } from "./printer.ts";
import type { DoctorReport, Finding, InstallCheck } from "./report.ts";

const advice = {
  wal: "Copy the database and its -wal file away before anything opens them. Then put the database back from a backup, or start the server: it goes on with what can be read.",
  integrity:
    "Copy the file away. Then put it back from a backup, or save what can be read with `sqlite3 FILE .recover`.",
  references: "Put the database back from a backup if something is missing.",
  version: "Use a newer server.",
  file: "Check the path: --store FILE, or `store` in the config.",
};

/** `named` is the file, as typed; `true` for the one of the config. */
export async function examineStore(
  { env, cwd }: CliIo,
  { named, file }: { readonly named: string | true; readonly file: string | undefined },
  printer: Printer,
): Promise<DoctorReport> {
  const url = named === true ? await configuredStore() : `sqlite:${named.replace(/^sqlite:/, "")}`;
  printer.title(`Store ${url ?? ""}`);
  const checks: InstallCheck[] = url === undefined ? [] : checkStoreFile(url, cwd).map(toCheck);
  for (const check of checks) printer.install(check);
  const result = summary(checks);
  printer.result(result);
  return { ok: result.status === "ok", installed: checks, servers: [], result };

  async function configuredStore(): Promise<string | undefined> {
    const { check, config } = await checkConfig({ cwd, env, file, flags: {} });
    if (config === undefined) printer.install(check);
    return typeof config?.store === "string" ? config.store : undefined;
  }
}

function toCheck({
  check: name,
  isGood,
  code,
  message,
}: ReturnType<typeof checkStoreFile>[number]): InstallCheck {
  return {
    name,
    status: isGood ? "ok" : "failed",
    code,
    message,
    ...(isGood ? {} : { advice: advice[name] }),
  };
}

function summary(checks: readonly InstallCheck[]): Finding {
  const failed = checks.find(({ status }) => status === "failed");
  if (failed) return { status: "failed", code: failed.code, message: "The store is not in order." };
  if (checks.length === 0)
    return {
      status: "failed",
      code: "invalid_config",
      message: "The store is not known without a config that is valid.",
      advice: "Correct the config, or name the file with --store FILE.",
    };
  return { status: "ok", code: "ok", message: "The store is whole." };
}
