// The `registry` option that tools, turns, agents and hooks share.

import { InvalidTypeError } from "../error/argument-errors.ts";
import { defaultRegistry, Registry } from "./registry.ts";

/** The registry to register in, or `false` for none. */
export type RegistryOption = Registry | false;

export interface RegistryChoice {
  /** Whose global hooks the object fires. */
  readonly registry: Registry;
  /** Whether the object is registered there by its name. */
  readonly isRegistered: boolean;
}

/** Reads the option. An object that is not registered still fires the hooks of the default registry. */
export function chooseRegistry(option: RegistryOption | undefined): RegistryChoice {
  if (option === undefined) return { registry: defaultRegistry, isRegistered: true };
  if (option === false) return { registry: defaultRegistry, isRegistered: false };
  if (option instanceof Registry) return { registry: option, isRegistered: true };
  throw new InvalidTypeError({ field: "registry", expected: "a Registry, or false", received: option });
}
