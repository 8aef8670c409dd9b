// Removes secrets from a text that comes in pieces, also one that two pieces share.

const replacement = "(hidden)";

/** The text without these secrets. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, replacement), text);
}

export class SecretFilter {
  readonly #secrets: readonly string[];
  /** The end of what came, which may be the beginning of a secret. */
  #held = "";

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  /** What can be shown now that this came. */
  take(piece: string): string {
    if (this.#secrets.length === 0) return piece;
    const text = withoutSecrets(this.#held + piece, this.#secrets);
    const end = text.length - Math.max(...this.#secrets.map((secret) => overlap(text, secret)));
    this.#held = text.slice(end);
    return text.slice(0, end);
  }

  /** The rest, when nothing more comes. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    return rest;
  }
}

/** How many characters at the end of a text are the beginning of a secret. */
function overlap(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(secret.slice(0, length))) return length;
  return 0;
}
