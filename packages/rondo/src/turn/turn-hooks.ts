// The hooks of a turn.

import type { AttachOptions, Hook, HookInput } from "../hook/hook.ts";
import { HookList } from "../hook/hook-list.ts";

export abstract class TurnHooks {
  /** The hooks of this turn alone, as the library reads them. */
  protected readonly hookList: HookList = new HookList("turn");

  /** The hooks of this turn alone. */
  get hooks(): readonly Hook[] {
    return this.hookList.all();
  }

  /** Before the tool runs: `(turn)`. Throwing fails the turn. */
  beforeRun(fn: HookInput<"turn.beforeRun">, options?: AttachOptions): Hook<"turn.beforeRun"> {
    return this.hookList.attach("turn.beforeRun", fn, options);
  }

  /** After the turn completed: `(turn, output)`. */
  afterRun(fn: HookInput<"turn.afterRun">, options?: AttachOptions): Hook<"turn.afterRun"> {
    return this.hookList.attach("turn.afterRun", fn, options);
  }

  /** When the turn timed out: `(turn)`. */
  onTimeout(fn: HookInput<"turn.onTimeout">, options?: AttachOptions): Hook<"turn.onTimeout"> {
    return this.hookList.attach("turn.onTimeout", fn, options);
  }

  /** When the turn failed for another reason: `(turn, error)`. */
  onError(fn: HookInput<"turn.onError">, options?: AttachOptions): Hook<"turn.onError"> {
    return this.hookList.attach("turn.onError", fn, options);
  }

  /** When the turn ended, for any reason: `(turn, stopReason)`. */
  onComplete(fn: HookInput<"turn.onComplete">, options?: AttachOptions): Hook<"turn.onComplete"> {
    return this.hookList.attach("turn.onComplete", fn, options);
  }
}
