// The command was not used as it has to be: told like a wrong flag, with the same exit code.

export class UsageError extends Error {
  override readonly name = "UsageError";
}
