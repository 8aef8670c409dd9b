// A line of the audit log for people: time, owner, action, and the rest as name=value.

import { safeJson } from "../../audit/fact.ts";
import type { AuditLine } from "../../audit/read-log.ts";
import type { Style } from "../terminal/style.ts";

export function showLine(line: AuditLine, style: Style): string {
  const {
    v: _v,
    time,
    node: _node,
    boot: _boot,
    n: _n,
    action,
    owner = "-",
    started: _started,
    ...rest
  } = line;
  const details = Object.entries(rest).map(
    ([name, value]) => style.dim(`${plain(name)}=`) + plain(shown(name, value)),
  );
  return [style.dim(plain(time)), plain(owner), style.bold(plain(action)), ...details].join("  ");
}

/** A tool by its server and its name. */
function shown(name: string, value: unknown): unknown {
  if (name !== "tool") return value;
  const { label, name: own } = Object(value) as { label?: unknown; name?: unknown };
  return [label, own].filter((it) => typeof it === "string" && it !== "").join("/");
}

function plain(value: unknown): string {
  return typeof value === "string" && /^[\w./:@+-]+$/.test(value) ? value : safeJson(value ?? null);
}
