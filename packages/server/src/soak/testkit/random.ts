// Numbers that look random, and are the same for the same seed.

export interface Random {
  /** From `low` to `high`, both included. */
  integer(low: number, high: number): number;
  pick<T>(list: readonly T[]): T;
}

/** The generator mulberry32. Seeds are taken as unsigned 32-bit numbers; several are mixed into one. */
export function random(...seeds: readonly number[]): Random {
  let state = seeds.reduce((mixed, seed) => (Math.imul(mixed, 0x01000193) ^ seed) >>> 0, 0x811c9dc5);
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    integer,
    pick: (list) => {
      if (list.length === 0) throw new Error("Expected something to pick from, got an empty list.");
      return list[integer(0, list.length - 1)] as (typeof list)[number];
    },
  };
}
