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
      this.#wake = () => {
        getUp();
        resolve();
      };
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort);
    });
  }
}
