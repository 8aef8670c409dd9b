// What all errors of this library have in common: a brand, a name and a stable `code`.

const brand = Symbol.for("rondo.error");

/**
 * The base of all errors of this library. `error instanceof RondoError` also holds for the ones that extend
 * `TypeError`, and for errors of a second copy of the package: it checks a brand, not the class.
 */
export abstract class RondoError extends Error {
  /** A stable, machine-readable name of the problem, such as `turn_timeout`. */
  abstract readonly code: string;

  static override [Symbol.hasInstance](value: unknown): boolean {
    // Subclasses inherit this method, but follow the ordinary rule.
    if (this !== RondoError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === "object" && value !== null && brand in value;
  }
}

/** Gives error classes their names, even if a bundler renames them, and the brand of a `RondoError`. */
export function brandErrors(classes: {
  readonly [name: string]: abstract new (...args: never) => Error;
}): void {
  for (const [name, errorClass] of Object.entries(classes)) brandError(errorClass, name);
}

export function brandError(errorClass: abstract new (...args: never) => Error, name: string): void {
  Object.defineProperty(errorClass.prototype, "name", { value: name, configurable: true, writable: true });
  Object.defineProperty(errorClass.prototype, brand, { value: true });
}

brandErrors({ RondoError });
