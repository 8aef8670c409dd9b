// A signal that is aborted when one of several is. `AbortSignal.any` costs more than the rest of a small request: it keeps
// a registry, so that nobody has to say when it is no longer needed. A run knows its end.

export class AnySignal implements Disposable {
  readonly signal: AbortSignal;
  readonly #sources: readonly AbortSignal[];
  readonly #controller: AbortController | undefined;

  /** Of at least one. Follows them until it is disposed of. */
  constructor(sources: readonly AbortSignal[]) {
    const [first, second] = sources;
    if (!first) throw new Error("Expected at least one signal.");
    this.#sources = sources;
    this.#controller = second && new AbortController();
    this.signal = this.#controller?.signal ?? first;
    if (!this.#controller) return;
    for (const source of sources) source.addEventListener("abort", this.#onAbort);
    if (sources.some(({ aborted }) => aborted)) this.#onAbort();
  }

  [Symbol.dispose](): void {
    if (this.#controller)
      for (const source of this.#sources) source.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#controller?.abort(this.#sources.find(({ aborted }) => aborted)?.reason);
  };
}
