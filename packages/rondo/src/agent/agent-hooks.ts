// The hooks of an agent: its own, and those for the turns that it runs.

import type { AttachOptions, Hook, HookInput } from "../hook/hook.ts";
import { HookList } from "../hook/hook-list.ts";

export abstract class AgentHooks {
  /** The hooks of this agent alone, as the library reads them. */
  protected readonly hookList: HookList = new HookList("agent");
  /** The hooks for the turns that it runs, as the library reads them. */
  readonly turnHookList: HookList = new HookList("turn");

  /** The hooks of this agent alone, including those for its turns. */
  get hooks(): readonly Hook[] {
    return [...this.hookList.all(), ...this.turnHookList.all()];
  }

  /** Before a turn is taken from the queue: `(agent)`. Throwing leaves it there. */
  beforeTurn(fn: HookInput<"agent.beforeTurn">, options?: AttachOptions): Hook<"agent.beforeTurn"> {
    return this.hookList.attach("agent.beforeTurn", fn, options);
  }

  /** After a turn completed and its values were passed on: `(agent, turn)`. */
  afterTurn(fn: HookInput<"agent.afterTurn">, options?: AttachOptions): Hook<"agent.afterTurn"> {
    return this.hookList.attach("agent.afterTurn", fn, options);
  }

  /** For each value of a turn, after it was routed and before it is yielded: `(agent, turn, value)`. */
  onTurnValue(fn: HookInput<"agent.onTurnValue">, options?: AttachOptions): Hook<"agent.onTurnValue"> {
    return this.hookList.attach("agent.onTurnValue", fn, options);
  }

  /** Before a turn is queued: `(agent, turn)`. Throwing keeps it out. */
  beforePut(fn: HookInput<"agent.beforePut">, options?: AttachOptions): Hook<"agent.beforePut"> {
    return this.hookList.attach("agent.beforePut", fn, options);
  }

  /** After a turn was queued: `(agent, turn)`. */
  afterPut(fn: HookInput<"agent.afterPut">, options?: AttachOptions): Hook<"agent.afterPut"> {
    return this.hookList.attach("agent.afterPut", fn, options);
  }

  /** When a paused run stopped before its next turn: `(agent)`. */
  onPause(fn: HookInput<"agent.onPause">, options?: AttachOptions): Hook<"agent.onPause"> {
    return this.hookList.attach("agent.onPause", fn, options);
  }

  /** When a paused run continues: `(agent)`. */
  onResume(fn: HookInput<"agent.onResume">, options?: AttachOptions): Hook<"agent.onResume"> {
    return this.hookList.attach("agent.onResume", fn, options);
  }

  /** When a turn of this agent timed out: `(turn)`. */
  onTimeout(fn: HookInput<"turn.onTimeout">, options?: AttachOptions): Hook<"turn.onTimeout"> {
    return this.turnHookList.attach("turn.onTimeout", fn, options);
  }

  /** When a turn of this agent failed for another reason: `(turn, error)`. */
  onError(fn: HookInput<"turn.onError">, options?: AttachOptions): Hook<"turn.onError"> {
    return this.turnHookList.attach("turn.onError", fn, options);
  }

  /** When a turn of this agent ended, for any reason: `(turn, stopReason)`. */
  onComplete(fn: HookInput<"turn.onComplete">, options?: AttachOptions): Hook<"turn.onComplete"> {
    return this.turnHookList.attach("turn.onComplete", fn, options);
  }
}
