// The errors of sandboxes. How a process ended is an outcome, not an error.

import { brandErrors, RondoError } from "../error/rondo-error.ts";
import type { LimitName, SandboxProbe } from "./sandbox.ts";

/** The tier does not protect on this machine, so it runs nothing. `probes` has what failed, and what to do. */
export class SandboxUnavailableError extends RondoError {
  readonly code = "sandbox_unavailable";
  readonly kind: string;
  readonly probes: readonly SandboxProbe[];

  constructor(kind: string, probes: readonly SandboxProbe[], options?: ErrorOptions) {
    const failed = probes.filter(({ holds, isRequired }) => isRequired && !holds);
    const reasons = failed.map(({ detail, remedy }) => (remedy ? `${detail} ${remedy}` : detail));
    super(`The sandbox '${kind}' runs no code here. ${reasons.join(" ")}`.trimEnd(), options);
    this.kind = kind;
    this.probes = probes;
  }
}

/** A path is not one of a file in the container. */
export class InvalidPathError extends RondoError {
  readonly code = "invalid_path";
  readonly path: string;

  constructor(path: string, problem: string) {
    super(
      `The path ${JSON.stringify(shortened(path))} ${problem}. Name a file in /mnt/data, such as "report.csv" or "out/plot.png".`,
    );
    this.path = path;
  }
}

/** There is no such file in the container. */
export class MissingFileError extends RondoError {
  readonly code = "missing_file";
  readonly path: string;

  constructor(path: string) {
    super(
      `There is no file ${JSON.stringify(shortened(path))} in the container. list() gives those that exist.`,
    );
    this.path = path;
  }
}

/** A file operation reached a limit of the container. Nothing was changed. */
export class SandboxLimitError extends RondoError {
  readonly code = "sandbox_limit";
  readonly limit: LimitName;

  constructor(limit: LimitName, message: string) {
    super(message);
    this.limit = limit;
  }
}

/** The container or its tier was closed, or went away. */
export class SandboxClosedError extends RondoError {
  readonly code = "sandbox_closed";

  constructor(what: string, options?: ErrorOptions) {
    super(`${what} is closed. Open the container again with the same id: its files are kept.`, options);
  }
}

function shortened(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}

brandErrors({
  SandboxUnavailableError,
  InvalidPathError,
  MissingFileError,
  SandboxLimitError,
  SandboxClosedError,
});
