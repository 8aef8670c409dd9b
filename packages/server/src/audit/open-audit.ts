// Opens the audit log that the config names.

import { AuditLog, type AuditLogOptions, type AuditSink } from "./audit-log.ts";
import { FileSink } from "./file-sink.ts";

export interface OpenAuditOptions extends AuditLogOptions {
  /** The path of a file, or `stdout`. */
  readonly target: string;
  readonly version: string;
}

/** Throws an `AuditFileError`. */
export function openAudit({ target, version, ...options }: OpenAuditOptions): AuditLog {
  const sink = target === "stdout" ? new StdoutSink() : new FileSink(target);
  const log = new AuditLog(sink, options);
  if (sink instanceof FileSink && sink.isTorn) log.record({ action: "log.repaired" });
  log.record({ action: "server.started", version, pid: process.pid });
  return log;
}

/** Standard output. Whoever reads it keeps it. */
class StdoutSink implements AuditSink {
  #written: Promise<void> = Promise.resolve();

  write(lines: readonly string[]) {
    this.#written = new Promise((resolve, reject) => {
      process.stdout.write(lines.join(""), (error) => (error ? reject(error) : resolve()));
    });
    this.#written.catch(() => {});
    return { written: lines.length };
  }

  sync(): Promise<void> {
    return this.#written;
  }

  close(): void {}
}
