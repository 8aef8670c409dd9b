// API keys. Only their hashes are kept. Keys are long and random, so a plain SHA-256 is enough.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export interface KeyConfig {
  readonly owner: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly hash: string;
}

/** A new key: 256 random bits, with a prefix for people and secret scanners. */
export function newKey(): string {
  return `rondo_${randomBytes(32).toString("base64url")}`;
}

/** The hash of a key, as in the config. */
export function hashKey(key: string): string {
  return `sha256:${digest(key).toString("hex")}`;
}

/** A key of the config. */
interface KnownKey {
  readonly owner: string;
  /** The beginning of its hash: tells it from others, and is of no use to anyone else. */
  readonly id: string;
}

const idLength = "sha256:".length + 12;

/** Finds a key; undefined if nobody has it. */
export function keyFinder(keys: readonly KeyConfig[]): (key: string) => KnownKey | undefined {
  const known = keys.map(({ owner, hash }) => ({
    key: { owner, id: hash.slice(0, idLength).toLowerCase() },
    hash: Buffer.from(hash.slice("sha256:".length), "hex"),
  }));
  return (key) => {
    const hash = digest(key);
    let found: KnownKey | undefined;
    // All are compared, so that the time reveals nothing.
    for (const candidate of known) if (timingSafeEqual(candidate.hash, hash)) found ??= candidate.key;
    return found;
  };
}

function digest(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
