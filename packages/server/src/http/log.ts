// Structured log lines on stderr. They never contain headers, bodies or keys, and whatever looks like a secret in an
// error's text is redacted.

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** `error` is logged with its stack and its causes. */
  error(message: string, fields?: LogFields & { error?: never }, error?: unknown): void;
}

export interface LogOptions {
  /** The lowest level that is logged. Default: `info`. */
  level?: LogLevel;
  /** JSON lines, or text for people. Default: `json`. */
  format?: "json" | "text";
  /** Receives whole lines. Default: stderr. */
  write?: (lines: string) => void;
  /** The time, for tests. Default: now. */
  now?: () => Date;
}

/** The higher, the more important. */
export const levelOrder: Readonly<Record<LogLevel, number>> = {
  debug: 0,
  info: 1,
  warn: 2,
  error: 3,
  silent: 4,
};

// Writing costs more than formatting, so lines are batched for this long.
const batchMs = 50;

// Loggers with lines to write before the process exits.
const unwritten = new Set<() => void>();
const writeAll = () => {
  for (const flush of unwritten) flush();
};

/** A logger. Lines are written in batches; warnings and errors at once, with all before them. */
export function createLogger(options: LogOptions = {}): Logger {
  const { level = "info", format = "json", now = () => new Date() } = options;
  const write = options.write ?? ((lines: string) => process.stderr.write(lines));
  const least = levelOrder[level];
  const render = format === "json" ? jsonLine : textLine;
  let pending = "";
  let flushing: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(flushing);
    flushing = undefined;
    unwritten.delete(flush);
    const lines = pending;
    pending = "";
    if (lines !== "") write(lines);
  };
  const log = (lineLevel: LogLevel, message: string, fields: LogFields = {}) => {
    if (levelOrder[lineLevel] < least) return;
    pending += `${redact(render(now(), lineLevel, message, fields))}\n`;
    if (levelOrder[lineLevel] >= levelOrder.warn) flush();
    else if (flushing === undefined) {
      flushing = setTimeout(flush, batchMs);
      unwritten.add(flush);
      if (!process.listeners("exit").includes(writeAll)) process.on("exit", writeAll);
    }
  };
  return {
    debug: (message, fields) => log("debug", message, fields),
    info: (message, fields) => log("info", message, fields),
    warn: (message, fields) => log("warn", message, fields),
    error: (message, fields, error) =>
      log("error", message, error === undefined ? fields : { ...fields, error: describeError(error) }),
  };
}

function jsonLine(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  return JSON.stringify({ time: time.toISOString(), level, message, ...fields });
}

function textLine(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  let line = `${time.toISOString()} ${level.padEnd(5)} ${oneLine(message)}`;
  let details = "";
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (name === "error") details = `\n${String(value).replace(/^/gm, "    ")}`;
    else line += ` ${name}=${/^[\w./:@-]+$/.test(String(value)) ? value : JSON.stringify(value)}`;
  }
  return line + details;
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ");
}

/** An error with its stack and its causes, at most five deep. */
export function describeError(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined || depth === 5
    ? text
    : `${text}\nCaused by: ${describeError(error.cause, depth + 1)}`;
}

// Keys by their names, credentials in headers, passwords in URLs, keys with a known prefix, tokens.
const secrets = new RegExp(
  [
    /((?:api[-_]?key|token|secret|password|authorization)\\?["']?\s*[=:]\s*\\?["']?(?:(?:bearer|basic)\s+)?)[^\s"'&,}\\]{4,}/,
    /((?:bearer|basic)\s+)[\w.~+/=-]{6,}/,
    // To the last @: a password of PostgreSQL that was not encoded may have one too.
    /(postgres(?:ql)?:\/\/)[^\s"'`]{0,1000}(?=@)/,
    /(:\/\/)[^/\s"@]+(?=@)/,
    /()\b(?:(?:sk|rk|hf|ghp)[-_][\w-]{12,}|rondo_[\w-]{40,})/,
    /()\beyJ[\w-]+\.[\w-]+\.[\w-]*/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gi",
);

/** The text with everything that looks like a secret redacted. */
export function redact(text: string): string {
  return text.replace(secrets, (_match, ...parts: (string | undefined)[]) => {
    const kept = parts.slice(0, 6).find((part) => part !== undefined) ?? "";
    return `${kept}[redacted]`;
  });
}
