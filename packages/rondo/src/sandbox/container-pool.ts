// Containers that wait with a started interpreter, so that the first call does not wait for one.

import { checkLimit, checkOptions } from "../error/check.ts";
import type { Interpreter, Language } from "./interpreter/interpreter.ts";
import { openInterpreter } from "./interpreter/open-interpreter.ts";
import type { Container, ContainerRecord, OpenOptions, Sandbox } from "./sandbox.ts";
import { SandboxClosedError } from "./sandbox-errors.ts";

export interface ContainerPoolOptions {
  readonly sandbox: Sandbox;
  /** How many wait. Default: 1. */
  readonly size?: number;
  /** Default: `python`. */
  readonly language?: Language;
  /** Options of the containers that wait: limits, mounts, network. Default: none. */
  readonly open?: Omit<OpenOptions, "id" | "record" | "isTemporary" | "signal">;
  /** Makes the id of a container. Default: the tier's. */
  readonly newId?: () => string;
}

/** A container with an interpreter that has run nothing yet. */
export interface WarmContainer {
  readonly container: Container;
  readonly interpreter: Interpreter;
}

const refillDelayMs = 50;

/** Nothing of any user is in a container that waits, and none comes back: each is used once. */
export class ContainerPool {
  readonly #options: ContainerPoolOptions;
  readonly #size: number;
  readonly #waiting: WarmContainer[] = [];
  readonly #starting = new Set<Promise<void>>();
  #refill: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ContainerPoolOptions) {
    checkOptions("options", options, ["sandbox", "size", "language", "open", "newId"]);
    this.#options = options;
    this.#size = checkLimit("options.size", options.size ?? 1);
  }

  /** How many wait now. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Fills the pool. Rejects where the tier is not available. */
  async fill(): Promise<void> {
    const missing = this.#size - this.#waiting.length - this.#starting.size;
    for (let count = 0; count < missing; count++) {
      const start = this.#start();
      this.#starting.add(start);
      const forget = () => this.#starting.delete(start);
      start.then(forget, forget);
    }
    await Promise.all(this.#starting);
  }

  /**
   * A container that waited, or a new one if none does. It is temporary, and lasts if `record` is given. The pool fills
   * up again soon after.
   */
  async take({ record }: { readonly record?: ContainerRecord } = {}): Promise<WarmContainer> {
    this.#checkOpen();
    let warm = this.#waiting.shift();
    while (warm !== undefined && !warm.interpreter.isAlive) {
      await warm.container.close();
      warm = this.#waiting.shift();
    }
    warm ??= await this.#open();
    if (record !== undefined) await warm.container.setRecord(record);
    this.#fillSoon();
    return warm;
  }

  /** Closes the containers that wait, not those that were taken. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#refill);
    await Promise.allSettled(this.#starting);
    await Promise.all(this.#waiting.splice(0).map(({ container }) => container.close()));
  }

  /** Not at once: a start takes the processor from the call for which the container was taken. */
  #fillSoon(): void {
    // A tier that fails now rejects the next call.
    this.#refill ??= setTimeout(() => {
      this.#refill = undefined;
      this.fill().catch(() => {});
    }, refillDelayMs).unref();
  }

  async #start(): Promise<void> {
    const warm = await this.#open();
    if (this.#isClosed) await warm.container.close();
    else this.#waiting.push(warm);
  }

  async #open(): Promise<WarmContainer> {
    const { sandbox, language = "python", open, newId } = this.#options;
    const container = await sandbox.open({
      ...open,
      ...(newId !== undefined && { id: newId() }),
      isTemporary: true,
    });
    try {
      return { container, interpreter: await openInterpreter(container, { language }) };
    } catch (error) {
      await container.close();
      throw error;
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new SandboxClosedError("The pool");
  }
}
