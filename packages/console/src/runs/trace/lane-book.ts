// Lanes and their bars while a trace is read: at most one bar of a lane is open.

export type BarKind =
  | "queue"
  | "slot"
  | "prompt"
  | "generation"
  | "retry"
  | "lock"
  | "tool"
  | "store"
  | "approval"
  | "away";

export interface Bar {
  /** Unique in its timeline. */
  readonly id: string;
  readonly kind: BarKind;
  readonly from: number;
  readonly to: number;
  /** Whether it goes on. */
  readonly isOpen: boolean;
  /** What went wrong in it, if something did. */
  readonly error?: string;
}

export interface Lane {
  readonly id: string;
  readonly kind: "queue" | "store" | "away" | "approval" | "answer" | "turn";
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly answer?: number;
  readonly callId?: string;
  /** What had to be guessed or mended to read its calls. */
  readonly doubts: readonly string[];
  readonly error?: string;
}

/** A moment of the whole run. */
export interface Mark {
  readonly id: string;
  readonly at: number;
  readonly kind: "resumed" | "warning" | "failed" | "rejected";
  readonly label: string;
}

export interface Timeline {
  readonly lanes: readonly Lane[];
  readonly marks: readonly Mark[];
  /** Its end; at least 1, so that it can be divided by. */
  readonly to: number;
}

interface OpenBar {
  readonly id: string;
  readonly kind: BarKind;
  readonly from: number;
  to: number | undefined;
  error?: string;
}

export interface OpenLane {
  readonly id: string;
  readonly kind: Lane["kind"];
  readonly label: string;
  readonly bars: OpenBar[];
  readonly answer?: number;
  readonly callId?: string;
  doubts: readonly string[];
  error?: string;
}

/** What concerns the whole run comes first, the rest in the order in which it began. */
const order: Readonly<Record<Lane["kind"], number>> = {
  queue: 0,
  store: 1,
  away: 2,
  approval: 3,
  answer: 3,
  turn: 3,
};

export class LaneBook {
  readonly #lanes = new Map<string, OpenLane>();
  readonly #open = new Map<OpenLane, OpenBar>();

  /** The lane, made if it is new. */
  lane(
    id: string,
    kind: Lane["kind"],
    label: string,
    of: { answer?: number; callId?: string } = {},
  ): OpenLane {
    const known = this.#lanes.get(id);
    if (known) return known;
    const lane: OpenLane = { id, kind, label, bars: [], doubts: [], ...of };
    this.#lanes.set(id, lane);
    return lane;
  }

  find(id: string): OpenLane | undefined {
    return this.#lanes.get(id);
  }

  /** The kind of what is open in a lane. */
  openIn(lane: OpenLane): BarKind | undefined {
    return this.#open.get(lane)?.kind;
  }

  /** Ends what is open in the lane, and begins the next bar. */
  begin(lane: OpenLane, kind: BarKind, n: number, at: number, error?: string): void {
    this.end(lane, at);
    const bar: OpenBar = {
      id: `${lane.id}:${n}`,
      kind,
      from: at,
      to: undefined,
      ...(error !== undefined && { error }),
    };
    lane.bars.push(bar);
    this.#open.set(lane, bar);
  }

  end(lane: OpenLane | undefined, at: number, error?: string): void {
    const bar = lane && this.#open.get(lane);
    if (!lane || !bar) return;
    bar.to = Math.max(bar.from, at);
    if (error !== undefined) bar.error = error;
    this.#open.delete(lane);
  }

  /** Ends everything, with an error if one is given. */
  endAll(at: number, error?: string): void {
    for (const lane of this.#open.keys()) this.end(lane, at, error);
  }

  /** Forgets the open bar: it was not what it seemed. */
  drop(lane: OpenLane): void {
    const bar = this.#open.get(lane);
    if (!bar) return;
    lane.bars.splice(lane.bars.indexOf(bar), 1);
    this.#open.delete(lane);
  }

  /** A bar whose beginning and end are known. */
  addClosed(lane: OpenLane, kind: BarKind, n: number, from: number, to: number): void {
    lane.bars.push({ id: `${lane.id}:${n}`, kind, from, to: Math.max(from, to) });
  }

  /** All lanes that have bars. What is open ends at `end`. */
  finish(end: number, isOver: boolean): Lane[] {
    return [...this.#lanes.values()]
      .filter(({ bars }) => bars.length > 0)
      .toSorted((a, b) => order[a.kind] - order[b.kind])
      .map(({ bars, ...lane }) => ({
        ...lane,
        bars: bars.map(({ to, ...bar }) => ({
          ...bar,
          to: Math.max(bar.from, to ?? end),
          isOpen: to === undefined && !isOver,
        })),
      }));
  }
}
