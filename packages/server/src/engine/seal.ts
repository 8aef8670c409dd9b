// Thoughts for clients that keep the conversation themselves: only this server can read or make them.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const algorithm = "aes-256-gcm";
const version = "r1";

export interface Sealer {
  readonly seal: (text: string) => string;
  /** Undefined if it was not sealed with these secrets, or was changed. */
  readonly unseal: (sealed: string) => string | undefined;
}

/**
 * Seals with a key that is derived from the first secret, and reads what was sealed with any of them: so a secret
 * can be replaced. The owner is part of the seal, so nobody reads another's.
 */
export function sealer(secrets: readonly string[], owner: string): Sealer {
  // Not before one is needed: to derive a key takes longer than most of a request.
  const sealerAt = (index: number) => sealerOf(secrets[index] as string, Buffer.from(owner));
  return {
    seal: (text) => sealerAt(0).seal(text),
    unseal(sealed) {
      for (const index of secrets.keys()) {
        const text = sealerAt(index).unseal(sealed);
        if (text !== undefined) return text;
      }
      return undefined;
    },
  };
}

function sealerOf(secret: string, about: Buffer): Sealer {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "rondo reasoning", 32));
  return {
    seal(text) {
      const iv = randomBytes(12);
      const cipher = createCipheriv(algorithm, key, iv).setAAD(about);
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return `${version}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url")}`;
    },
    unseal(sealed) {
      const [found, text = ""] = sealed.split(".", 2);
      const bytes = Buffer.from(text, "base64url");
      if (found !== version || bytes.length < 28) return undefined;
      try {
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, 12)).setAAD(about);
        decipher.setAuthTag(bytes.subarray(12, 28));
        return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
      } catch {
        return undefined;
      }
    },
  };
}
