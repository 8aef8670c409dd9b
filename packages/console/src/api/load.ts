// Loads something for a page: again when the connection came back, and if asked, again and again while it is visible.

import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { isAbort } from "./api.ts";
import { reconnects } from "./connection.ts";
import { key } from "./key.ts";

export interface Loaded<T> {
  readonly value: Signal<T | undefined>;
  readonly error: Signal<Error | undefined>;
  readonly reload: () => void;
}

export interface LoadOptions {
  /** How often it is loaded again while the page is visible. Default: never. */
  readonly everyMs?: number;
}

/**
 * Loads with `load`, and again when one of `inputs` changes. What was loaded stays until the next value is there, so
 * that nothing flickers.
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  { everyMs }: LoadOptions = {},
): Loaded<T> {
  const value = useSignal<T | undefined>(undefined);
  const error = useSignal<Error | undefined>(undefined);
  const turn = useSignal(0);
  const latest = useRef(load);
  latest.current = load;
  const reload = useCallback(() => {
    turn.value += 1;
  }, []);
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const once = async () => {
      clearTimeout(timer);
      try {
        value.value = await latest.current(leaving.signal);
        error.value = undefined;
      } catch (caught) {
        if (leaving.signal.aborted || isAbort(caught)) return;
        error.value = caught instanceof Error ? caught : new Error(String(caught));
      }
      if (everyMs !== undefined && !leaving.signal.aborted) timer = setTimeout(whenVisible, everyMs);
    };
    const whenVisible = () => {
      if (document.visibilityState === "visible") void once();
      else document.addEventListener("visibilitychange", whenVisible, { once: true });
    };
    void once();
    return () => {
      leaving.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", whenVisible);
    };
  }, [...inputs, everyMs, turn.value, reconnects.value, key.value]);
  return { value, error, reload };
}
