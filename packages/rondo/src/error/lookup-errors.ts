// Names and ids that are not found.

import { brandErrors, RondoError } from "./rondo-error.ts";

/** The base of the errors for an unregistered name. */
export abstract class UnregisteredError extends RondoError {
  /** The name that was looked up. */
  readonly lookedUp: string;

  constructor(kind: string, name: string, known: readonly string[], hint: string) {
    const choice = known.length === 0 ? "None is registered." : `Registered: ${known.join(", ")}.`;
    super(`The ${kind} '${name}' was not found. ${choice} ${hint}`);
    this.lookedUp = name;
  }
}

/** No tool of that name is registered. */
export class UnregisteredToolError extends UnregisteredError {
  readonly code = "unregistered_tool";

  constructor(name: string, known: readonly string[]) {
    super(
      "tool",
      name,
      known,
      "Define it before it is used; a subtool goes by its full name, 'parent.child'.",
    );
  }
}

/** No agent of that name is registered. */
export class UnregisteredAgentError extends UnregisteredError {
  readonly code = "unregistered_agent";

  constructor(name: string, known: readonly string[]) {
    super("agent", name, known, "Create it first, and not with `registry: false`.");
  }
}

/** No global hook of that name is registered. */
export class UnregisteredHookError extends UnregisteredError {
  readonly code = "unregistered_hook";

  constructor(name: string, known: readonly string[]) {
    super("hook", name, known, "Global hooks go by the name of their function.");
  }
}

/** A context pool has no item of that id. */
export class MissingContextItemError extends RondoError {
  readonly code = "missing_context_item";
  readonly id: string;

  constructor(id: string, known: readonly string[]) {
    const choice = known.length === 0 ? "The pool is empty." : `It has: ${known.join(", ")}.`;
    super(`The context pool has no item '${id}'. ${choice}`);
    this.id = id;
  }
}

brandErrors({
  UnregisteredError,
  UnregisteredToolError,
  UnregisteredAgentError,
  UnregisteredHookError,
  MissingContextItemError,
});
