// What the environment says about models. Explicit options beat it, and it beats presets.

/** A variable of the environment, where there is one; empty counts as not set. */
export function environment(name: "RONDO_BASE_URL" | "RONDO_MODEL" | "OLLAMA_HOST"): string | undefined {
  // Not every runtime has a process, and some ask the user before they hand out a variable.
  const process = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process;
  try {
    const value = process?.env?.[name]?.trim();
    return value === "" ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * Ollama's own way to say where it listens, as a baseURL: `0.0.0.0`, `gpu-box:8080`, `https://ollama.local`.
 * Without a scheme the port is 11434 unless given.
 */
export function ollamaBaseUrl(host: string): string {
  const [, scheme, name = "", port, path = ""] =
    /^(?:(\w+:)\/\/)?([^/]*?)(?::(\d+))?(\/.*)?$/.exec(host) ?? [];
  const portPart = port ?? (scheme === undefined ? "11434" : "");
  const authority = portPart === "" ? reachable(name) : `${reachable(name)}:${portPart}`;
  return `${scheme ?? "http:"}//${authority}${path.replace(/\/+$/, "")}/v1`;
}

/** Where a client gets through to a server that listens on all addresses. */
function reachable(name: string): string {
  if (name === "" || name === "0.0.0.0") return "127.0.0.1";
  return name === "[::]" || name === "::" ? "[::1]" : name;
}
