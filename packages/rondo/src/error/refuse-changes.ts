// Read-only properties: assigning to one throws an error that says so, even in plain JavaScript.

import { SafeExecutionError } from "./execution-errors.ts";

/** Adds setters that throw to the getters of a class. */
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
