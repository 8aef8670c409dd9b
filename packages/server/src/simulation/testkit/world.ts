// The time and the order of a simulation: everything that happens is an event on one virtual clock. Timers, clocks and
// randomness of the process are replaced while it runs, so that the same seed gives the same history.

import { AsyncLocalStorage } from "node:async_hooks";
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate as realImmediate } from "node:timers";
import { newId } from "../../protocol/ids.ts";
import { type Random, random } from "../../soak/testkit/random.ts";

/** Something that events belong to: while it is frozen they wait, and when it is gone they are dropped. */
export class Host {
  readonly name: string;
  /** What its own clock adds to the time. */
  readonly skewMs: number;
  isGone = false;
  isFrozen = false;
  /** Events that came while it was frozen. */
  readonly held: SimEvent[] = [];

  constructor(name: string, skewMs = 0) {
    this.name = name;
    this.skewMs = skewMs;
  }
}

interface SimEvent {
  readonly atMs: number;
  readonly serial: number;
  readonly host: Host | undefined;
  readonly action: () => void;
  isCancelled: boolean;
}

const startMs = 1_700_000_000_000;

export class World {
  readonly chance: Random;
  readonly #context = new AsyncLocalStorage<Host | undefined>();
  readonly #events: SimEvent[] = [];
  #serial = 0;
  #nowMs = 0;
  eventCount = 0;
  /** Mixes all that happened into one number: the same seed must give the same. */
  trace = 0x811c9dc5;

  constructor(seed: number) {
    this.chance = random(seed);
  }

  /** Milliseconds since the start. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** The clock of whoever asks. */
  get wallMs(): number {
    return startMs + this.#nowMs + (this.#context.getStore()?.skewMs ?? 0);
  }

  /** Runs `work` as part of a host: its timers are the host's. */
  in<T>(host: Host | undefined, work: () => T): T {
    return this.#context.run(host, work);
  }

  after(delayMs: number, action: () => void, host = this.#context.getStore()): SimEvent {
    const atMs = this.#nowMs + Math.max(0, delayMs);
    const event = { atMs, serial: ++this.#serial, host, action, isCancelled: false };
    push(this.#events, event);
    return event;
  }

  /** As part of no host: it passes whatever happens to nodes. */
  async sleep(delayMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.after(delayMs, resolve, undefined);
    await promise;
  }

  thaw(host: Host): void {
    host.isFrozen = false;
    for (const { action, isCancelled } of host.held.splice(0)) if (!isCancelled) this.after(0, action, host);
  }

  /** Lets time pass until `isOver`, at most `limitMs` and `limitEvents`. Returns whether it was over. */
  async run(isOver: () => boolean, limitMs: number, limitEvents: number): Promise<boolean> {
    while (!isOver()) {
      const event = pop(this.#events);
      if (!event || event.atMs > limitMs || this.eventCount > limitEvents) return false;
      const { host } = event;
      if (event.isCancelled || host?.isGone) continue;
      this.#nowMs = event.atMs;
      if (host?.isFrozen) {
        host.held.push(event);
        continue;
      }
      this.eventCount += 1;
      this.#mix(event);
      this.#context.run(host, event.action);
      // Everything that follows from it without time has happened when the process has nothing else to do.
      await new Promise((resolve) => realImmediate(resolve));
    }
    return true;
  }

  /** Replaces timers, clocks and randomness of the process. Returns the function that puts them back. */
  install(): () => void {
    const restore = [this.#replaceTimers(), this.#replaceRandomness()];
    return () => {
      for (const undo of restore) undo();
    };
  }

  #mix({ atMs, host }: SimEvent): void {
    const text = `${atMs}${host?.name ?? ""}`;
    for (let index = 0; index < text.length; index++)
      this.trace = Math.imul(this.trace ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }

  #replaceTimers(): () => void {
    const start = (delayMs: number, action: () => void) => new SimTimer(this.after(delayMs, action));
    const stop = (timer: unknown) => {
      if (timer instanceof SimTimer) timer.cancel();
    };
    const interval = (action: (...args: unknown[]) => void, delayMs = 1, ...args: unknown[]) => {
      const again = () => {
        timer.event = this.after(Math.max(1, delayMs), again);
        action(...args);
      };
      const timer = start(Math.max(1, delayMs), again);
      return timer;
    };
    const original = {
      setTimeout: globalThis.setTimeout,
      setInterval: globalThis.setInterval,
      setImmediate: globalThis.setImmediate,
      clearTimeout: globalThis.clearTimeout,
      clearInterval: globalThis.clearInterval,
      clearImmediate: globalThis.clearImmediate,
    };
    const { now } = Date;
    const originalPerformanceNow = performance.now.bind(performance);
    const replacements = {
      setTimeout: (action: (...args: unknown[]) => void, delayMs = 1, ...args: unknown[]) =>
        start(Math.max(1, delayMs), () => action(...args)),
      setInterval: interval,
      setImmediate: (action: (...args: unknown[]) => void, ...args: unknown[]) =>
        start(0, () => action(...args)),
      clearTimeout: stop,
      clearInterval: stop,
      clearImmediate: stop,
    };
    Object.assign(globalThis, onlyInside(replacements, original));
    Date.now = () => this.wallMs;
    performance.now = () => this.#nowMs;
    return () => {
      Object.assign(globalThis, original);
      Date.now = now;
      performance.now = originalPerformanceNow;
    };
  }

  #replaceRandomness(): () => void {
    const { randomFillSync, randomUUID, randomBytes } = crypto;
    const { random: mathRandom } = Math;
    const chance = random(this.chance.integer(0, 2 ** 31));
    const filled = { count: 0 };
    const fill = (bytes: Buffer) => {
      filled.count += 1;
      for (let index = 0; index < bytes.length; index++) bytes[index] = chance.integer(0, 255);
      return bytes;
    };
    const replacements = {
      randomFillSync: fill,
      randomUUID: () => {
        const hex = fill(Buffer.alloc(16)).toString("hex");
        return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
      },
      randomBytes: (size: number) => fill(Buffer.alloc(size)),
    };
    Object.assign(crypto, onlyInside(replacements, { randomFillSync, randomUUID, randomBytes }));
    syncBuiltinESMExports();
    const random01 = () => chance.integer(0, 2 ** 30) / 2 ** 30;
    Math.random = () => (inside.getStore() ? random01() : mathRandom());
    // Ids are made from random bytes in bulk: those of before are used up first.
    while (filled.count === 0) newId("");
    return () => {
      Object.assign(crypto, { randomFillSync, randomUUID, randomBytes });
      syncBuiltinESMExports();
      Math.random = mathRandom;
    };
  }
}

/** Whether code belongs to a simulation: the process may have other work, which would make each history another one. */
const inside = new AsyncLocalStorage<boolean>();

/** Runs a simulation. */
export function simulated<T>(work: () => Promise<T>): Promise<T> {
  return inside.run(true, work);
}

type Functions = Record<string, (...args: never[]) => unknown>;

/** Functions that are replaced for the simulation alone. */
function onlyInside(replacements: Functions, originals: Record<string, unknown>): Functions {
  return Object.fromEntries(
    Object.entries(replacements).map(([name, replacement]) => [
      name,
      (...args: never[]) => {
        const chosen = inside.getStore() ? replacement : (originals[name] as typeof replacement);
        return chosen(...args);
      },
    ]),
  );
}

/** What `setTimeout()` returns. */
class SimTimer {
  event: SimEvent;

  constructor(event: SimEvent) {
    this.event = event;
  }

  cancel(): void {
    this.event.isCancelled = true;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.cancel();
  }
}

function isBefore(a: SimEvent, b: SimEvent): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.serial < b.serial);
}

/** A binary heap, the first event on top. */
function push(heap: SimEvent[], event: SimEvent): void {
  let index = heap.length;
  heap.push(event);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!isBefore(event, heap[parent] as SimEvent)) break;
    heap[index] = heap[parent] as SimEvent;
    index = parent;
  }
  heap[index] = event;
}

function pop(heap: SimEvent[]): SimEvent | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (!first || !last || heap.length === 0) return first;
  let index = 0;
  while (true) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as SimEvent, heap[child] as SimEvent)) child += 1;
    if (!isBefore(heap[child] as SimEvent, last)) break;
    heap[index] = heap[child] as SimEvent;
    index = child;
  }
  heap[index] = last;
  return first;
}
