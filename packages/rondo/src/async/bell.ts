// Lets one sleeper wait until something has happened elsewhere.

export class Bell {
  #wake: (() => void) | undefined;

  /** Wakes the sleeper, if there is one. */
  ring(): void {
    this.#wake?.();
  }

  /**
   * Sleeps until the bell rings; rejects with the signal's reason when it is aborted. The sleeper looks for
   * itself what has changed: it may have been woken for something else.
   */
  sleep(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const getUp = () => {
        signal.removeEventListener("abort", onAbort);
        this.#wake = undefined;
      };
      const onAbort = () => {
        getUp();
        reject(signal.reason);
      };
      // Not written right into the property: V8 would keep the function until the next full garbage collection.
      const wake = () => {
        getUp();
        resolve();
      };
      this.#wake = wake;
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort);
    });
  }
}
