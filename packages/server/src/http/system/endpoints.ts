// Model servers as the console shows them. With keys, nobody sees an address.

import { slotsInUse } from "rondo/models";
import { serverNames } from "../../config/discover.ts";
import type { ModelServerView } from "../../config/models.ts";
import type { EndpointReply } from "../../protocol/system.ts";

/** A name for each, in order: `Ollama`, `Ollama 2`. */
export function endpointNames(servers: readonly ModelServerView[]): string[] {
  const counts = new Map<string, number>();
  return servers.map(({ kind, label }) => {
    const name = kind === "code" ? nameOfCode(label) : nameOfKind(kind);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name} ${count}`;
  });
}

function nameOfKind(kind: string): string {
  return kind === "other" || !Object.hasOwn(serverNames, kind)
    ? "Model server"
    : serverNames[kind as keyof typeof serverNames];
}

function nameOfCode(label: string): string {
  return label.startsWith("demo:") ? "Demo" : "Model in code";
}

/** `showsUrls`: whether the caller may see where they are. */
export function toEndpoints(servers: readonly ModelServerView[], showsUrls: boolean): EndpointReply[] {
  const names = endpointNames(servers);
  return servers.map((server, index) => {
    const { label, kind, state, problem, models } = server;
    const why = showsUrls ? problem : "It does not answer. The server's log says why.";
    return {
      name: names[index] ?? "",
      ...(showsUrls && kind !== "code" && { url: label }),
      kind,
      state,
      error: state === "down" ? (why ?? null) : null,
      models: models.map(({ id }) => id),
      slots: slotsOf(server),
    };
  });
}

export function slotsOf({ label, maxConcurrency }: ModelServerView): EndpointReply["slots"] {
  return { limit: maxConcurrency ?? null, ...slotsInUse(label) };
}
