// Properties that are only read: assigning to one is an error that says so, also where the compiler is not heard.

import { SafeExecutionError } from "./execution-errors.ts";

/** Gives the getters of a class setters that refuse. */
export function refuseChanges(
  owner: { prototype: object; name: string },
  properties: readonly string[],
): void {
  for (const property of properties) {
    const descriptor = Object.getOwnPropertyDescriptor(owner.prototype, property);
    const set = () => {
      throw new SafeExecutionError(
        `Cannot change property '${property}' of ${owner.name}: make another one.`,
      );
    };
    Object.defineProperty(owner.prototype, property, { ...descriptor, set });
  }
}
