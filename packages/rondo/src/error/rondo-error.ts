// What every error of this library has in common: a brand, a name and a `code` that never changes.

const brand = Symbol.for("rondo.error");

/**
 * The base of all errors of this library. `error instanceof RondoError` also holds for the ones that must
 * extend `TypeError`, and for errors of a second copy of the package: it looks for a brand, not for a class.
 */
export abstract class RondoError extends Error {
  /** A stable, machine-readable name of the problem, such as `turn_timeout`. */
  abstract readonly code: string;

  static {
    brandError(RondoError, "RondoError");
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // Subclasses inherit this method, but for them the ordinary rule is the right one.
    if (this !== RondoError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === "object" && value !== null && brand in value;
  }
}

/** Gives an error class its name and the brand that `instanceof RondoError` looks for. */
export function brandError(errorClass: abstract new (...args: never) => Error, name: string): void {
  Object.defineProperty(errorClass.prototype, "name", { value: name, configurable: true, writable: true });
  Object.defineProperty(errorClass.prototype, brand, { value: true });
}
