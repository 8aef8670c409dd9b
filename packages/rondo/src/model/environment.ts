// Environment variables about models. Options override them, and they override presets.

/** An environment variable; an empty one counts as not set. */
export function environment(name: "RONDO_BASE_URL" | "RONDO_MODEL" | "OLLAMA_HOST"): string | undefined {
  // Not every runtime has a process, and some ask the user before they reveal a variable.
  const process = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process;
  try {
    const value = process?.env?.[name]?.trim();
    return value === "" ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * The base URL for a value of `OLLAMA_HOST`: `0.0.0.0`, `gpu-box:8080`, `https://ollama.local`. Without a scheme
 * the default port is 11434.
 */
export function ollamaBaseUrl(host: string): string {
  const [, scheme, name = "", port, path = ""] =
    /^(?:(\w+:)\/\/)?([^/]*?)(?::(\d+))?(\/.*)?$/.exec(host) ?? [];
  const portPart = port ?? (scheme === undefined ? "11434" : "");
  const authority = portPart === "" ? reachable(name) : `${reachable(name)}:${portPart}`;
  return `${scheme ?? "http:"}//${authority}${path.replace(/\/+$/, "")}/v1`;
}

/** The host that reaches a server which listens on all addresses. */
function reachable(name: string): string {
  if (name === "" || name === "0.0.0.0") return "127.0.0.1";
  return name === "[::]" || name === "::" ? "[::1]" : name;
}
