// Encrypts and signs content that clients keep for this server, or that is stored but must stay secret. A seal is valid
// for one owner and one kind of content.

import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";

const algorithm = "aes-256-gcm";
const version = "r2";

/** Encrypted content: thinking, calls of the server, the summary of a conversation, headers for MCP servers. */
export type SealedKind = "reasoning" | "calls" | "compaction" | "credentials";

/** Signed content: approval requests. */
export type SignedKind = "approval";

export interface Sealer {
  readonly seal: (kind: SealedKind, text: string) => string;
  /** Undefined if it was changed, or sealed as another kind or with other secrets. */
  readonly unseal: (kind: SealedKind, sealed: string) => string | undefined;
  /** A signature for a text that others may read but not change. */
  readonly sign: (kind: SignedKind, text: string) => string;
  readonly isSigned: (kind: SignedKind, text: string, signature: string) => boolean;
}

/** Seals with a key derived from the first secret, and opens with any of them, so that secrets can be rotated. */
export function sealer(secrets: readonly string[], owner: string): Sealer {
  // Lazily: deriving a key takes longer than most of a request.
  const sealerAt = (index: number) => sealerOf(secrets[index] as string, owner);
  return {
    seal: (kind, text) => sealerAt(0).seal(kind, text),
    unseal(kind, sealed) {
      for (const index of secrets.keys()) {
        const text = sealerAt(index).unseal(kind, sealed);
        if (text !== undefined) return text;
      }
      return undefined;
    },
    sign: (kind, text) => sealerAt(0).sign(kind, text),
    isSigned: (kind, text, signature) =>
      secrets.some((_secret, index) => sealerAt(index).isSigned(kind, text, signature)),
  };
}

function sealerOf(secret: string, owner: string): Sealer {
  const keyFor = (use: "seal" | "sign") => Buffer.from(hkdfSync("sha256", secret, "", `rondo ${use}`, 32));
  const about = (kind: SealedKind) => Buffer.from(JSON.stringify([kind, owner]));
  const signature = (kind: SignedKind, text: string) =>
    createHmac("sha256", keyFor("sign"))
      .update(JSON.stringify([kind, owner, text]))
      .digest();
  return {
    seal(kind, text) {
      const iv = randomBytes(12);
      const cipher = createCipheriv(algorithm, keyFor("seal"), iv).setAAD(about(kind));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return `${version}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url")}`;
    },
    unseal(kind, sealed) {
      const [found, text = ""] = sealed.split(".", 2);
      const bytes = Buffer.from(text, "base64url");
      if (found !== version || bytes.length < 28) return undefined;
      try {
        const decipher = createDecipheriv(algorithm, keyFor("seal"), bytes.subarray(0, 12)).setAAD(
          about(kind),
        );
        decipher.setAuthTag(bytes.subarray(12, 28));
        return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
      } catch {
        return undefined;
      }
    },
    sign: (kind, text) => signature(kind, text).toString("base64url"),
    isSigned(kind, text, given) {
      const [found, right] = [Buffer.from(given, "base64url"), signature(kind, text)];
      return found.length === right.length && timingSafeEqual(found, right);
    },
  };
}
